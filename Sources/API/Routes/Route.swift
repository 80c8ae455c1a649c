import HTTPServer
import HTTPTypes

/// One method on one path of the API.
struct Route: Sendable {
    let method: HTTPRequest.Method
    /// Components of the path; `{name}` stands for any one.
    let pattern: [Substring]
    /// The names of the parameters, and their positions in the pattern.
    let parameters: [(name: Substring, position: Int)]
    let body: BodyRule
    /// Whether it has parameters in the query, and reads them; else any is refused before it is begun.
    let readsQuery: Bool
    /// Whether it answers without a token.
    let isOpen: Bool
    /// Answers from memory, on the thread of its connection; nil where it cannot.
    let immediate: (@Sendable (RequestContext) -> Answer?)?
    /// Whether clients can ask it to wait for something to happen.
    let mayWait: Bool
    let handle: @Sendable (RequestContext) async throws -> Response

    enum BodyRule: Sendable {
        /// A body is refused.
        case none
        case optional(limit: Int)
        case required(limit: Int)
    }

    init(
        _ method: HTTPRequest.Method, _ path: StaticString, body: BodyRule = .none, readsQuery: Bool = false,
        isOpen: Bool = false, immediate: (@Sendable (RequestContext) -> Answer?)? = nil, mayWait: Bool = false,
        _ handle: @escaping @Sendable (RequestContext) async throws -> Response
    ) {
        self.method = method
        pattern = "\(path)".split(separator: "/")
        parameters = pattern.enumerated().filter { $0.element.hasPrefix("{") }
            .map { ($0.element.dropFirst().dropLast(), $0.offset) }
        self.body = body
        self.readsQuery = readsQuery
        self.isOpen = isOpen
        self.immediate = immediate
        self.mayWait = mayWait
        self.handle = handle
    }
}
