import Base
import Configuration
import Downloads
import HTTPServer
import HTTPTypes

/// A request on its way through the steps, with what they have found out about it. Its body was not read yet.
struct IncomingRequest: Sendable {
    var head: RequestHead
    let watch = Stopwatch()
    /// Whether another service of the database has passed the request on to this one.
    var isRelayed = false
    var match: RouteMatch?
    /// nil until the caller is known, and for a route that needs no permission.
    var caller: Caller?
    /// Bytes.
    var bodyLimit = 0
    /// Receives the body, if it is a list.
    var upload: ListUpload?

    init(_ head: RequestHead) { self.head = head }

    fileprivate var needsPermission: Bool { match.map { $0.route.access != .open } ?? false }
}

/// One of the checks that a request passes by its head alone, before its body is read. `APIHandler` has their order.
protocol RequestStep: Sendable {
    /// Checks the request, and adds what the later steps need.
    /// - Returns: the response to a request that needs no further step; nil: the next step follows.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response?
}

/// Finds the address of the client, if a trusted proxy has sent it.
struct ClientAddressStep: RequestStep {
    let proxies: TrustedProxies

    func apply(to request: inout IncomingRequest) -> Response? {
        if proxies.areAny { request.head = head(of: request.head) }
        return nil
    }

    func head(of received: RequestHead) -> RequestHead {
        guard proxies.areAny else { return received }
        var head = received
        head.forwardedAddress = proxies.client(
            of: head.remoteAddress, forwarded: head.headers[Self.forwardedFor])
        return head
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
}

extension HostFieldStep: RequestStep {
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        if !request.isRelayed { try check(request.head) }
        return nil
    }
}

extension OriginRule: RequestStep {
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        try check(request.head)
        return nil
    }
}

/// Finds the route. It also answers the requests that ask for no route: CORS preflight requests, which browsers send without
/// a token, and `OPTIONS *`.
struct RouteStep: RequestStep {
    let table: RouteTable
    let origins: OriginRule

    /// - Throws: 404 or 405.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        if request.head.target == "*" { return .noContent }
        guard !origins.isPreflight(request.head) else {
            let methods = try table.methods(at: request.head)
            return Response(status: .noContent, headers: [.accessControlAllowMethods: methods.joined(separator: ", ")])
        }
        request.match = try table.find(request.head)
        return nil
    }
}

extension Availability: RequestStep {
    /// Comes before authentication: the tokens in memory can be outdated, too.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        guard request.needsPermission else { return nil }
        try readiness.check()
        if request.match?.route.needsLease == true { try checkLease() }
        return nil
    }
}

extension Authentication: RequestStep {
    /// - Throws: 401.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        guard request.needsPermission, let route = request.match?.route else { return nil }
        request.caller =
            request.isRelayed && route.isRelayed
            ? .peer : try caller(of: request.head, takesOneTimeToken: route.takesOneTimeToken)
        return nil
    }
}

extension RequestRates: RequestStep {
    /// - Throws: 429.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        if let caller = request.caller { try check(caller) }
        return nil
    }
}

/// Checks that the caller may use the route. What the path names is checked later (`SessionFilter`).
struct PermissionStep: RequestStep {
    /// - Throws: 403.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        guard let caller = request.caller, case .scope(let scope, let subject)? = request.match?.route.access else {
            return nil
        }
        try caller.require(scope, of: subject)
        return nil
    }
}

/// Checks the announced body, and how large it may become.
struct BodyStep: RequestStep {
    /// - Throws: 413 or 415.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        if let route = request.match?.route { request.bodyLimit = try route.bodyLimit(request.head) }
        return nil
    }
}

/// Prepares for a list. It is the last step, because it reserves a place for the list.
struct UploadStep: RequestStep {
    /// - Throws: 422 for the parameters, 503 without a place.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        guard let match = request.match, let caller = request.caller, case .list(_, let receive) = match.route.body
        else { return nil }
        request.upload = try receive(RequestContext(request: Request(head: request.head), match: match, caller: caller))
        return nil
    }
}
