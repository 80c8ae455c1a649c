import HTTPServer
import HTTPTypes

/// One method on one path of the API.
struct Route: Sendable {
    let method: HTTPRequest.Method
    /// The components of the path; `{name}` matches any component.
    let pattern: [Substring]
    let body: BodyRule
    /// Whether the handler reads query parameters. If not, a request with any parameter is refused before the handler
    /// runs.
    let readsQuery: Bool
    /// Whether the route needs no token.
    let isOpen: Bool
    /// Responds from memory without waiting; returns nil if `handle` must respond.
    let immediate: (@Sendable (RequestContext) -> Response?)?
    /// Whether clients can ask the route to wait for a change.
    let mayWait: Bool
    let handle: @Sendable (RequestContext) async throws -> Response

    enum BodyRule: Sendable {
        /// A request with a body is refused.
        case none
        case optional(limit: Int)
        case required(limit: Int)
    }

    init(
        _ method: HTTPRequest.Method, _ path: StaticString, body: BodyRule = .none, readsQuery: Bool = false,
        isOpen: Bool = false, immediate: (@Sendable (RequestContext) -> Response?)? = nil, mayWait: Bool = false,
        _ handle: @escaping @Sendable (RequestContext) async throws -> Response
    ) {
        self.method = method
        pattern = "\(path)".split(separator: "/")
        self.body = body
        self.readsQuery = readsQuery
        self.isOpen = isOpen
        self.immediate = immediate
        self.mayWait = mayWait
        self.handle = handle
    }

    /// The path components that match the names of the pattern; nil if the path does not match.
    func match(_ path: [String]) -> [String: String]? {
        guard path.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (expected, component) in zip(pattern, path) {
            if expected.hasPrefix("{"), !component.isEmpty {
                parameters[String(expected.dropFirst().dropLast())] = component
            } else if expected != component {
                return nil
            }
        }
        return parameters
    }
}
