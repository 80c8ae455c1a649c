import HTTPServer
import HTTPTypes

/// One method on one path of the API.
struct Route: Sendable {
    let method: HTTPRequest.Method
    /// The components of the path; `{name}` matches any component.
    let pattern: [Substring]
    /// The names of the parameters, and their positions in the pattern.
    let parameters: [(name: Substring, position: Int)]
    let body: BodyRule
    /// Whether the handler reads query parameters. If not, a request with any parameter is refused before the handler
    /// runs.
    let readsQuery: Bool
    let access: Access
    /// The group of the route in the metrics.
    let group: RouteClass
    /// Whether the route accepts a ticket, in the query, in place of a token.
    let takesTicket: Bool
    /// Whether a node without its lease must not answer: what it has in memory can be outdated.
    let needsLease: Bool
    /// Whether other nodes pass requests for this route on.
    let isRelayed: Bool
    /// Whether the response grows with the data, so that only a few of them are made at the same time.
    let isLarge: Bool
    /// Responds from memory, on the thread of the connection; returns nil if `handle` must respond. It and `park` run
    /// before `Visibility` checks what the caller may see, so they return nil for what it may not see.
    let immediate: (@Sendable (RequestContext) -> Answer?)?
    /// Whether clients can ask the route to wait for a change.
    let mayWait: Bool
    /// What a request waits for; nil if `handle` must respond.
    let park: (@Sendable (RequestContext) -> ParkedRequest.Wait?)?
    let handle: @Sendable (RequestContext) async throws -> Response

    enum BodyRule: Sendable {
        /// A request with a body is refused.
        case none
        case optional(limit: Int)
        case required(limit: Int)
        /// Of any content type. A page of another origin can send one without permission, so `OriginRule` must protect the
        /// route.
        case unchecked(limit: Int)
    }

    init(
        _ method: HTTPRequest.Method, _ path: StaticString, _ access: Access, body: BodyRule = .none,
        readsQuery: Bool = false, takesTicket: Bool = false, isRelayed: Bool = false, isLarge: Bool = false,
        immediate: (@Sendable (RequestContext) -> Answer?)? = nil, mayWait: Bool = false,
        park: (@Sendable (RequestContext) -> ParkedRequest.Wait?)? = nil,
        _ handle: @escaping @Sendable (RequestContext) async throws -> Response
    ) {
        self.method = method
        pattern = "\(path)".split(separator: "/")
        group = RouteClass(method, pattern)
        parameters = pattern.enumerated().filter { $0.element.hasPrefix("{") }
            .map { ($0.element.dropFirst().dropLast(), $0.offset) }
        self.body = body
        self.readsQuery = readsQuery
        self.access = access
        // The metrics show what a node without a lease knows.
        needsLease = access != .open && pattern.first == "v1"
        self.takesTicket = takesTicket
        self.isRelayed = isRelayed
        self.isLarge = isLarge
        self.immediate = immediate
        self.mayWait = mayWait
        self.park = park
        self.handle = handle
    }
}
