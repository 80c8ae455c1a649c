import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Lists

/// One method on one path of the API. It is an object because every request passes it on several times.
final class Route: Sendable {
    let method: HTTPRequest.Method
    /// The components of the path; `{name}` matches any component.
    let pattern: [Substring]
    let parameters: [(name: Substring, position: Int)]
    let body: BodyRule
    /// Whether the handler reads query parameters. If not, a request with any parameter is refused before the handler
    /// runs.
    let readsQuery: Bool
    let access: Access
    let group: RouteClass
    /// Whether the route accepts a ticket, in the query, in place of a token.
    let takesOneTimeToken: Bool
    /// Whether `Availability.checkLease` must hold, because what is in memory can be outdated otherwise. The metrics are not of
    /// these routes: they show what the service knows.
    let needsLease: Bool
    /// Whether other services of the database pass requests for this route on.
    let isRelayed: Bool
    /// Whether the response grows with the data, so that only a few of them are made at the same time.
    let isLarge: Bool
    /// Responds from memory, on the thread of the connection; returns nil if `handle` must respond. It and `longPoll` run
    /// before `SessionFilter` checks what the caller may see, so they check it themselves.
    let immediate: (@Sendable (RequestContext) -> Answer?)?
    let mayWait: Bool
    /// The maximum time for the response; nil: that of all responses.
    let answerLimit: Duration?
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
        /// A list, which does not have to fit into memory. `receive` checks the parameters before the body arrives.
        case list(limit: Int, receive: @Sendable (RequestContext) throws(Problem) -> ListUpload)

        static let json = BodyRule.required(limit: JSONBody.limit)
        static let optionalJSON = BodyRule.optional(limit: JSONBody.limit)
    }

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, body: BodyRule = .none,
        readsQuery: Bool = false, takesOneTimeToken: Bool = false, isRelayed: Bool = false, isLarge: Bool = false,
        immediate: (@Sendable (RequestContext) -> Answer?)? = nil, mayWait: Bool = false, answerLimit: Duration? = nil,
        longPoll: (@Sendable (RequestContext) -> LongPoll.Wait?)? = nil,
        _ handle: @escaping @Sendable (RequestContext) async throws -> Response
    ) {
        self.method = method
        pattern = path.split(separator: "/")
        group = RouteClass(method, pattern)
        parameters = pattern.enumerated().filter { $0.element.hasPrefix("{") }
            .map { ($0.element.dropFirst().dropLast(), $0.offset) }
        self.body = body
        self.readsQuery = readsQuery
        self.access = access
        needsLease = access != .open && pattern.first == "v1"
        self.takesOneTimeToken = takesOneTimeToken
        self.isRelayed = isRelayed
        self.isLarge = isLarge
        self.immediate = immediate
        self.mayWait = mayWait
        self.answerLimit = answerLimit
        self.longPoll = longPoll
        self.handle = handle
    }

    /// A route that has one response for all clients.
    ///
    /// - Parameter response: is made for the first request.
    static func constant(_ path: String, _ response: @autoclosure @escaping @Sendable () -> StaticResponse) -> Route {
        // A request with a query is refused later.
        Route(
            .get, path, .open, immediate: { $0.head.query == nil ? response().answer(to: $0.head) : nil },
            { response().response(to: $0.head) })
    }

    /// Whether clients that accept it get the response with the content coding gzip.
    var isCoded: Bool { method == .get && isLarge }

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
        case .list(let limit, _):
            guard ListFormat.mediaTypes.contains(head.mediaType) else {
                let types = ListFormat.mediaTypes.joined(separator: ", ")
                throw Problem(.unsupportedMediaType, "Send the list with one of these Content-Types: \(types).")
            }
            guard !head.headers.contains(.contentEncoding) else {
                throw Problem(.unsupportedMediaType, "Send the list without Content-Encoding.")
            }
            return limit
        }
    }

    private func requireJSON(_ head: RequestHead) throws(Problem) {
        let type = head.mediaType
        // RFC 7396 defines another content type for the body of a PATCH.
        guard type == "application/json" || (head.method == .patch && type == "application/merge-patch+json") else {
            throw Problem(.unsupportedMediaType, "Send the body as Content-Type: application/json.")
        }
    }
}

extension RequestHead {
    /// The type of the body without its parameters, in lower case.
    var mediaType: String { (headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased() }

    /// Whether a body follows the head. It can be empty in the end.
    var announcesBody: Bool { headers[.contentLength].map { $0 != "0" } ?? (headers[.transferEncoding] != nil) }
}

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
        case session
        case job
        case delivery
    }
}

struct RouteTable: Sendable {
    private let root: PathNode

    init(_ routes: [Route]) { root = PathNode(routes) }

    /// - Throws: 404 for an unknown path, 405 with `Allow` for a method that the path does not have.
    func find(_ head: RequestHead) throws(Problem) -> RouteMatch {
        let path = try Self.components(of: head)
        let routes = try routes(at: path, head)
        // HEAD uses the route of GET, and the server omits the body.
        let method: HTTPRequest.Method = head.method == .head ? .get : head.method
        guard let route = routes.first(where: { $0.method == method }) else {
            throw Self.notAllowed(head, Self.methods(of: routes))
        }
        return RouteMatch(route: route, path: path)
    }

    func methods(at head: RequestHead) throws(Problem) -> [String] {
        Self.methods(of: try routes(at: try Self.components(of: head), head))
    }

    private func routes(at path: [Substring], _ head: RequestHead) throws(Problem) -> [Route] {
        guard let routes = root.routes(at: path[...]) else {
            throw Problem(.notFound, "No route matches \(head.path). GET /openapi.yaml describes the API.")
        }
        return routes
    }

    private static func methods(of routes: [Route]) -> [String] {
        let methods = Set(routes.map(\.method))
        return (methods.contains(.get) ? methods.union([.head]) : methods).map(\.rawValue).sorted()
    }

    private static func notAllowed(_ head: RequestHead, _ allowed: [String]) -> Problem {
        let methods = allowed.joined(separator: ", ")
        return Problem(
            .methodNotAllowed, "\(head.method.rawValue) is not possible here; \(methods) is.",
            headers: [.allow: methods])
    }

    /// Decodes each component separately, so that an encoded slash stays inside its component.
    ///
    /// Every request passes here, so the bytes are looked at once.
    private static func components(of head: RequestHead) throws(Problem) -> [Substring] {
        let path = head.path
        var (components, isEncoded): ([Substring], Bool) = ([], false)
        components.reserveCapacity(8)
        var copy = path
        copy.withUTF8 { bytes in
            var start: Int?
            for position in 0...bytes.count {
                guard position == bytes.count || bytes[position] == UInt8(ascii: "/") else {
                    if bytes[position] == UInt8(ascii: "%") { isEncoded = true }
                    continue
                }
                if let start {
                    let first = path.utf8.index(path.startIndex, offsetBy: start)
                    components.append(path[first..<path.utf8.index(first, offsetBy: position - start)])
                }
                start = position + 1
            }
        }
        if isEncoded {
            for index in components.indices { components[index] = try decoded(components[index]) }
        }
        return components == [""] ? [] : components
    }

    private static func decoded(_ component: Substring) throws(Problem) -> Substring {
        guard let decoded = component.percentDecoded, !decoded.utf8.contains(0) else {
            throw Problem(.malformedRequest, "The path holds a malformed percent-encoding.")
        }
        return decoded[...]
    }
}

struct RouteMatch: Sendable {
    let route: Route
    let path: [Substring]

    var job: String? {
        guard case .scope(_, .job) = route.access else { return nil }
        return parameter("id")
    }

    /// What stands for `{name}` in the route's path; nil if the route has no such parameter.
    func parameter(_ name: String) -> String? {
        route.parameters.first { $0.name == name }.map { String(path[$0.position]) }
    }
}

/// A branch of the tree of paths: the routes whose paths end here, and the components that can follow.
final class PathNode: Sendable {
    private let routes: [Route]
    private let literals: [Substring: PathNode]
    /// Follows any component that is not empty.
    private let parameter: PathNode?

    /// - Parameters:
    ///   - routes: with paths that are equal in their first components.
    ///   - depth: the number of these components.
    init(_ routes: [Route], at depth: Int = 0) {
        self.routes = routes.filter { $0.pattern.count == depth }
        let longer = Dictionary(grouping: routes.filter { $0.pattern.count > depth }) { $0.pattern[depth] }
        literals = longer.filter { !$0.key.hasPrefix("{") }.mapValues { PathNode($0, at: depth + 1) }
        let parameters = longer.filter { $0.key.hasPrefix("{") }.flatMap(\.value)
        parameter = parameters.isEmpty ? nil : PathNode(parameters, at: depth + 1)
    }

    /// The routes of a path, at least one; nil if there is none. Of `/v1/jobs/batch` and `/v1/jobs/{id}`, the former: a
    /// literal component is preferred to a parameter.
    func routes(at path: ArraySlice<Substring>) -> [Route]? {
        guard let first = path.first else { return routes.isEmpty ? nil : routes }
        let rest = path.dropFirst()
        if let found = literals[first]?.routes(at: rest) { return found }
        return first.isEmpty ? nil : parameter?.routes(at: rest)
    }
}
