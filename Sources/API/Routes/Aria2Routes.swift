import Aria2RPC
import Downloads
import HTTPServer
import HTTPTypes
import Storage

/// `/jsonrpc`: aria2's interface. Each call has its own secret, so the handler finds the caller, not the route.
struct Aria2Routes: Sendable {
    let service: Aria2Service
    let store: Store
    let authentication: Authentication
    let rates: RequestRates
    let availability: Availability
    let origins: OriginRule

    static let path: StaticString = "/jsonrpc"

    var routes: [Route] {
        [
            // Many scripts add a time to the address (`?tm=`). aria2 ignores all parameters of a POST.
            Route(.post, Self.path, .open, body: .unchecked(limit: Self.largestMessage), readsQuery: true, post),
            Route(.get, Self.path, .open, readsQuery: true, immediate: openSocket, get),
        ]
    }

    /// As in aria2 (`--rpc-max-request-size`).
    static let largestMessage = 2 << 20

    private func post(_ context: RequestContext) async throws -> Response {
        try availability.check()
        return await reply(to: RPCMessage(context.request.body), context.head)
    }

    /// A page of another origin can make a browser send a GET without saying where it comes from. So a GET without a token
    /// only reads.
    private func get(_ context: RequestContext) async throws -> Response {
        try availability.check()
        try origins.checkAsChange(context.head)
        // Other parameters are ignored, as in aria2.
        var query = try Query(context.head.query)
        var parameters: [String: String] = [:]
        for name in ["method", "id", "params"] { parameters[name] = try query.value(name) }
        if try query.value("jsoncallback") != nil {
            throw Problem(.invalidValue, "fetchd does not answer with JavaScript (JSONP). Use POST or a WebSocket.")
        }
        let message = RPCMessage(query: parameters)
        return await reply(to: message, context.head, needsToken: !message.onlyReads)
    }

    // MARK: WebSockets

    /// nil if the request does not ask for a WebSocket.
    private func openSocket(_ context: RequestContext) -> Answer? {
        guard WebSocketHandshake.isRequested(by: context.head) else { return nil }
        do throws(Problem) {
            return .webSocket(try upgrade(context.head))
        } catch {
            if error.kind.isAudited {
                store.refusals.add(AuditNote(context.head, ofAria2: nil), error.kind.rawValue, at: store.time.now)
            }
            return .now(error.response)
        }
    }

    /// Judges a handshake as any other request. Only a token is not required: browsers cannot add one to a handshake, so
    /// it comes with the calls.
    private func upgrade(_ head: RequestHead) throws(Problem) -> WebSocketUpgrade {
        try availability.check()
        try origins.checkAsChange(head)
        guard let handshake = WebSocketHandshake(head) else {
            var problem = Problem(.malformedRequest, "The request is not a WebSocket handshake by RFC 6455.")
            problem.headers[.secWebSocketVersion] = WebSocketHandshake.version
            throw problem
        }
        var isAllowed = true
        do throws(Problem) {
            try rates.check(try authentication.caller(of: head))
        } catch {
            guard error.kind == .unauthorized, head.headers[.authorization] == nil else { throw error }
            isAllowed = false
        }
        return WebSocketUpgrade(handshake) { [self, isAllowed] socket in
            Aria2Socket(socket, head: head, isAllowed: isAllowed && mayRead(head, nil), routes: self).receiver
        }
    }

    var isAvailable: Bool { (try? availability.check()) != nil }

    /// Whether the caller of a call with this secret may read the downloads.
    func mayRead(_ head: RequestHead, _ secret: String?) -> Bool {
        guard let caller = try? authentication.caller(of: head, secret: secret) else { return false }
        return caller.visible.contain(service.session)
    }

    private func reply(to message: RPCMessage, _ head: RequestHead, needsToken: Bool = false) async -> Response {
        let callers = Aria2Callers(head: head, needsToken: needsToken, routes: self)
        let reply = await service.reply(to: message) { secret throws(RPCError) in try callers.caller(secret) }
        return Response(
            status: HTTPResponse.Status(code: reply.status), headers: [.contentType: "application/json-rpc"],
            body: .bytes(reply.text))
    }
}
