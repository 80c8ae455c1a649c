import Aria2RPC
import Downloads
import HTTPServer
import HTTPTypes
import Locks
import Storage

/// `/jsonrpc`: aria2's interface. Each call has its own secret, so the handler finds the caller, not the route.
struct Aria2Routes: Sendable {
    let service: Aria2Service
    let store: Store
    let authentication: Authentication
    let rates: RequestRates
    let availability: Availability
    let origins: OriginRule
    let answers: AnswerBudget
    /// For large messages, which take much memory until they are answered.
    private let gate = AsyncGate(width: 4)

    init(
        service: Aria2Service, store: Store, authentication: Authentication, rates: RequestRates,
        availability: Availability, origins: OriginRule, answers: AnswerBudget
    ) {
        (self.service, self.store, self.authentication, self.rates) = (service, store, authentication, rates)
        (self.availability, self.origins, self.answers) = (availability, origins, answers)
    }

    static let path: StaticString = "/jsonrpc"
    /// Where aria2 speaks XML-RPC.
    private static let pathOfXML: StaticString = "/rpc"

    var routes: [Route] {
        [
            // Many scripts add a time to the address (`?tm=`). aria2 ignores all parameters of a POST.
            Route(.post, Self.path, .open, body: .unchecked(limit: Self.largestMessage), readsQuery: true, post),
            Route(.get, Self.path, .open, readsQuery: true, immediate: openSocket, get),
            Route(
                .post, Self.pathOfXML, .open, body: .unchecked(limit: Self.largestMessage), readsQuery: true, refuseXML),
        ]
    }

    /// As in aria2 (`--rpc-max-request-size`).
    static let largestMessage = 2 << 20

    private func post(_ context: RequestContext) async throws -> Response {
        try availability.check()
        let callers = Aria2Callers(head: context.head, needsToken: false, routes: self)
        let (reply, memory) = await reply(to: context.request.body, callers) { secret throws(RPCError) in
            try callers.caller(secret)
        }
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
        let callers = Aria2Callers(head: context.head, needsToken: !message.onlyReads, routes: self)
        let (reply, memory) = await reply(to: message, callers) { secret throws(RPCError) in
            try callers.caller(secret)
        }
        return Self.response(reply, memory)
    }

    /// Says in XML-RPC what is spoken here, so that the client can show it.
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

    // MARK: Answers

    /// Answers a message. A large one waits until others are answered: before it is read, it takes no memory but its own.
    func reply(
        to text: [UInt8], _ callers: Aria2Callers, _ authorize: Aria2Service.Authorization
    ) async -> (RPCReply, AnswerShare) {
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
    ) async -> (RPCReply, AnswerShare) {
        let memory = Locked<AnswerShare?>(nil)
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

    private static func response(_ reply: RPCReply, _ memory: AnswerShare) -> Response {
        var response = Response(
            status: HTTPResponse.Status(code: reply.status), headers: [.contentType: "application/json-rpc"],
            body: .bytes(reply.text))
        if response.status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        response.memory = memory
        return response
    }
}
