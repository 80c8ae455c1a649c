import Downloads
import HTTPServer
import HTTPTypes

/// One method on one path of the API. It is an object because every request passes it on several times.
final class Route: Sendable {
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
    let takesOneTimeToken: Bool
    /// Whether a node without its lease must not answer: what it has in memory can be outdated.
    let needsLease: Bool
    /// Whether other nodes pass requests for this route on.
    let isRelayed: Bool
    /// Whether the response grows with the data, so that only a few of them are made at the same time.
    let isLarge: Bool
    /// Responds from memory, on the thread of the connection; returns nil if `handle` must respond. It and `longPoll` run
    /// before `SessionFilter` checks what the caller may see, so they check it themselves.
    let immediate: (@Sendable (RequestContext) -> Answer?)?
    /// Whether clients can ask the route to wait for a change.
    let mayWait: Bool
    /// What a request waits for; nil if `handle` must respond.
    let longPoll: (@Sendable (RequestContext) -> LongPoll.Wait?)?
    let handle: @Sendable (RequestContext) async throws -> Response

    enum BodyRule: Sendable {
        /// A request with a body is refused.
        case none
        case optional(limit: Int)
        case required(limit: Int)
        /// Of any content type. A page of another origin can send one without permission, so `OriginRule` must protect the
        /// route.
        case unchecked(limit: Int)

        static let json = BodyRule.required(limit: JSONBody.limit)
        static let optionalJSON = BodyRule.optional(limit: JSONBody.limit)
    }

    init(
        _ method: HTTPRequest.Method, _ path: StaticString, _ access: Access, body: BodyRule = .none,
        readsQuery: Bool = false, takesOneTimeToken: Bool = false, isRelayed: Bool = false, isLarge: Bool = false,
        immediate: (@Sendable (RequestContext) -> Answer?)? = nil, mayWait: Bool = false,
        longPoll: (@Sendable (RequestContext) -> LongPoll.Wait?)? = nil,
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
        self.takesOneTimeToken = takesOneTimeToken
        self.isRelayed = isRelayed
        self.isLarge = isLarge
        self.immediate = immediate
        self.mayWait = mayWait
        self.longPoll = longPoll
        self.handle = handle
    }
}

/// What a route accepts as the body of a request.
extension Route {
    /// A body needs the content type of JSON: a web page of another origin cannot send that type without a preflight
    /// request.
    func bodyLimit(_ head: RequestHead) throws(Problem) -> Int {
        switch body {
        case .none:
            if head.announcesBody { throw Problem(.bodyTooLarge, "This request takes no body.") }
            return 0
        case .unchecked(let limit): return limit
        case .optional(let limit), .required(let limit):
            if head.announcesBody { try requireJSON(head) }
            return limit
        }
    }

    private func requireJSON(_ head: RequestHead) throws(Problem) {
        let type = (head.headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        // RFC 7396 defines another content type for the body of a PATCH.
        guard type == "application/json" || (head.method == .patch && type == "application/merge-patch+json") else {
            throw Problem(.unsupportedMediaType, "Send the body as Content-Type: application/json.")
        }
    }
}

extension RequestHead {
    /// Whether a body follows the head. It can be empty in the end.
    var announcesBody: Bool { headers[.contentLength].map { $0 != "0" } ?? (headers[.transferEncoding] != nil) }
}

/// Who may use a route.
enum Access: Sendable, Equatable {
    /// Everybody who can connect, without a token.
    case open
    /// Callers with at least this scope, as far as they may see the subject.
    case scope(Scope, of: Subject)

    /// What the response of a route shows or changes. Callers that are bound to sessions see only these.
    enum Subject: Sendable, Equatable, CaseIterable {
        /// The whole service. Callers that are bound to sessions get 403.
        case service
        /// A list, or new jobs. The handler leaves out, or refuses, what the caller may not see.
        case selection
        /// The session that the path names.
        case session
        /// The job that the path names.
        case job
        /// The delivery that the path names.
        case delivery
    }
}
