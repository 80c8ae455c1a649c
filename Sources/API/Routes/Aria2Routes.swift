import Aria2RPC
import Base
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
    let answers: ResponseBudget
    /// For large messages, which take much memory until they are answered.
    private let gate = AsyncGate(width: 4)

    static let path = "/jsonrpc"

    var routes: [Route] {
        [
            // Many scripts add a time to the address (`?tm=`). aria2 ignores all parameters of a POST.
            Route(.post, Self.path, .open, body: .unchecked(limit: Self.largestMessage), readsQuery: true, post),
            Route(.get, Self.path, .open, readsQuery: true, immediate: openSocket, get),
            // Where aria2 speaks XML-RPC.
            Route(.post, "/rpc", .open, body: .unchecked(limit: Self.largestMessage), readsQuery: true, refuseXML),
        ]
    }

    /// As in aria2 (`--rpc-max-request-size`).
    static let largestMessage = 2 << 20

    private func post(_ context: RequestContext) async throws -> Response {
        try availability.check()
        let callers = callers(of: context.head)
        let (reply, memory) = await reply(to: context.request.body, callers, callers.caller)
        return Self.response(reply, memory)
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
        let callers = callers(of: context.head, needsToken: !message.onlyReads)
        let (reply, memory) = await reply(to: message, callers, callers.caller)
        return Self.response(reply, memory)
    }

    func callers(of head: RequestHead, needsToken: Bool = false) -> Aria2Callers {
        Aria2Callers(head: head, needsToken: needsToken, authentication: authentication, rates: rates, store: store)
    }

    private func refuseXML(_ context: RequestContext) async throws -> Response {
        let fault = """
            <?xml version="1.0"?>
            <methodResponse><fault><value><struct>\
            <member><name>faultCode</name><value><int>1</int></value></member>\
            <member><name>faultString</name><value><string>fetchd does not speak XML-RPC. Use JSON-RPC at \
            \(Self.path).</string></value></member>\
            </struct></value></fault></methodResponse>

            """
        return Response(status: .ok, headers: [.contentType: "text/xml"], body: .bytes(Array(fault.utf8)))
    }

    private func openSocket(_ context: RequestContext) -> Answer? {
        guard WebSocketUpgrade.isRequested(by: context.head) else { return nil }
        do throws(Problem) {
            return .webSocket(try upgrade(context.head))
        } catch {
            store.audit(error, AuditNote(context.head, ofAria2: nil))
            return .now(error.response)
        }
    }

    /// Judges a handshake as any other request. Only a token is not required: browsers cannot add one to a handshake, so
    /// it comes with the calls.
    private func upgrade(_ head: RequestHead) throws(Problem) -> WebSocketUpgrade {
        try availability.check()
        try origins.checkAsChange(head)
        var isAllowed = true
        do throws(Problem) {
            try rates.check(try authentication.caller(of: head))
        } catch {
            guard error.kind == .unauthorized, head.headers[.authorization] == nil else { throw error }
            isAllowed = false
        }
        let upgrade = WebSocketUpgrade(head) { [self, isAllowed] socket in
            Aria2Socket(socket, head: head, isAllowed: isAllowed && mayRead(head, nil), routes: self).receiver
        }
        if let upgrade { return upgrade }
        throw Problem(
            .malformedRequest, "The request is not a WebSocket handshake by RFC 6455.",
            headers: [.secWebSocketVersion: WebSocketUpgrade.version])
    }

    var isAvailable: Bool { (try? availability.check()) != nil }

    func mayRead(_ head: RequestHead, _ secret: String?) -> Bool {
        guard let caller = try? authentication.caller(of: head, secret: secret) else { return false }
        return caller.visible.contain(service.session)
    }

    /// Answers a message. A large one waits until others are answered: before it is read, it takes no memory but its own.
    func reply(
        to text: [UInt8], _ callers: Aria2Callers, _ authorize: Aria2Service.Authorization
    ) async -> (RPCReply, ResponseShare) {
        guard text.count > Self.smallMessage else { return await reply(to: RPCMessage(text), callers, authorize) }
        do {
            return try await gate.pass(for: callers.holder) { await reply(to: RPCMessage(text), callers, authorize) }
        } catch {
            // The task was cancelled while it waited for its turn.
            return await reply(to: .unreadable, callers, authorize)
        }
    }

    private func reply(
        to message: RPCMessage, _ callers: Aria2Callers, _ authorize: Aria2Service.Authorization
    ) async -> (RPCReply, ResponseShare) {
        let memory = Locked<ResponseShare?>(nil)
        let share = { @Sendable in
            memory.withLock { memory in
                let share = memory ?? answers.share(of: callers.holder)
                memory = share
                return share
            }
        }
        let reply = await service.reply(to: message, in: AnswerRoom { share().resize(to: $0) }, authorize)
        // Errors and the answers to changes are not refused.
        share().force(to: reply.text.count)
        return (reply, share())
    }

    private static let smallMessage = 64 << 10

    private static func response(_ reply: RPCReply, _ memory: ResponseShare) -> Response {
        var response = Response(
            status: HTTPResponse.Status(code: reply.status), headers: [.contentType: "application/json-rpc"],
            body: .bytes(reply.text))
        if response.status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        response.memory = memory
        return response
    }
}

/// Finds the callers of aria2's calls: by the secret of each call, or by the `Authorization` field of the request. Each call
/// is authenticated, and counts as a request of its token, because a message can have many.
struct Aria2Callers: Sendable {
    let head: RequestHead
    let needsToken: Bool
    let authentication: Authentication
    let rates: RequestRates
    let store: Store
    private let first = Locked<Caller?>(nil)

    /// - Parameter secret: a token of the service; nil: the call has none.
    func caller(_ secret: String?) throws(RPCError) -> RPCCaller {
        do throws(Problem) {
            let caller = try admitted(secret)
            return RPCCaller(grant: caller.grant, creator: caller.creator, note: AuditNote(head, ofAria2: caller))
        } catch {
            store.audit(error, AuditNote(head, ofAria2: nil))
            // Clients recognize this text.
            throw error.kind == .unauthorized ? .unauthorized : RPCError(error.detail)
        }
    }

    private func admitted(_ secret: String?) throws(Problem) -> Caller {
        let caller = try authentication.caller(of: head, secret: secret)
        if needsToken, caller.authMethod != .token {
            throw Problem(.forbidden, "A GET without a token cannot change anything. Send a POST.")
        }
        try rates.check(caller)
        first.withLock { $0 = $0 ?? caller }
        return caller
    }

    /// Who holds the memory of the answer: the first caller, or, as long as there is none, the client's address.
    var holder: String { first.withLock(\.self)?.identity ?? head.remoteAddress }
}

/// A WebSocket at `/jsonrpc`. Each call has its own caller, as over HTTP. The socket gets notifications from the first call
/// that is allowed to read, or from the beginning if the request of the socket itself had a caller.
final class Aria2Socket: Sendable {
    private let socket: WebSocket
    private let head: RequestHead
    private let routes: Aria2Routes
    private let subscription = Locked<Int?>(nil)

    init(_ socket: WebSocket, head: RequestHead, isAllowed: Bool, routes: Aria2Routes) {
        self.socket = socket
        self.head = head
        self.routes = routes
        if isAllowed { subscribe(nil) }
    }

    var receiver: WebSocketReceiver {
        WebSocketReceiver(receive: { [self] in await reply(to: $0) }, closed: { [self] in unsubscribe() })
    }

    private func reply(to text: [UInt8]) async -> WebSocketReply? {
        guard routes.isAvailable else {
            // The client connects again, to another service of the database if there is one.
            socket.close()
            return nil
        }
        let callers = routes.callers(of: head)
        let (reply, memory) = await routes.reply(to: text, callers) { secret throws(RPCError) in
            let caller = try callers.caller(secret)
            if routes.service.maySee(caller) { subscribe(secret) }
            return caller
        }
        return WebSocketReply(reply.text, memory: memory)
    }

    private func subscribe(_ secret: String?) {
        let isNew = subscription.withLock { number in
            guard number == nil else { return false }
            number = routes.service.notifier.add(
                isAllowed: { [head, routes] in routes.mayRead(head, secret) }, send: { [socket] in socket.send($0) },
                end: { [socket] in socket.close() })
            return true
        }
        if isNew { socket.trust() }
    }

    private func unsubscribe() {
        if let number = subscription.withLock({ $0.take() }) { routes.service.notifier.remove(number) }
    }
}
