import Base
import CMicroHTTPD
import HTTPTypes

/// The state of one request and its response, from the request line to the last byte. The callbacks of the library
/// advance it. It is confined to the network thread of its connection; only what it waits for is shared.
final class Exchange {
    enum Step {
        case head
        case body(limit: Int, respond: @Sendable (Request) -> Answer)
        /// The request is refused and has no body. The response is sent when the request is complete, so that the
        /// connection can be reused.
        case refused(Response)
        /// The body is refused. The library accepts a response only after the body has ended. `allowance` is the number
        /// of bytes that are read until then; beyond it, the connection is closed.
        case discarding(RequestFault, allowance: Int)
        case waiting(DeferredResponse)
        /// The response to the handshake is sent. Then the library hands over the socket.
        case upgrading(WebSocketUpgrade)
        case answered
    }

    let server: ServerContext
    let connection: Connection
    private let target: String?
    var step = Step.head
    /// nil until the head was read, or if it was invalid.
    private var head: RequestHead?
    private var body: [UInt8] = []
    /// Takes the body in place of memory, until the body is complete or refused.
    private var sink: (any BodySink)?
    /// Later by the time in which the sink had no room.
    private var bodyStart: Connection.Instant?
    private var pausedSince: Connection.Instant?
    /// The number of bytes of the body that have arrived, including those that were discarded.
    private var receivedLength = 0
    /// The length of the body for which this exchange has taken memory from the budget.
    private var budgetedLength = 0
    /// Whether the connection ends after the response. The library accepts chunks that other readers refuse (a bare LF
    /// ends their lines), so the next request may begin elsewhere for a proxy.
    private var endsConnection = false
    /// What the response keeps until it was sent: its memory, or the response that other connections send, too.
    private var kept: (any Sendable)?

    /// - Parameter target: the request target as it was sent; nil if it was missing or not UTF-8.
    init(server: ServerContext, connection: Connection, target: String?) {
        self.server = server
        self.connection = connection
        self.target = target
        connection.enterHead(limit: server.options.headDeadline)
    }

    func end() {
        if case .waiting(let answer) = step { answer.take()?.abandon() }
        sink?.abandon()
        sink = nil
        returnBudget()
        kept = nil
        connection.endWatching(server.disconnects)
        connection.enter(.idle(since: .now, isFresh: false))
        // A keep-alive response may have been in progress when the server started to close.
        if server.connections.stage != .open { connection.abort() }
    }

    /// The library calls this for each part of a request: first for the head, then for pieces of the body, then for its
    /// end. After a wait it repeats the end.
    ///
    /// - Returns: `.NO` to close the connection.
    func advance(_ handle: OpaquePointer, line: RequestLine, piece: UnsafeRawBufferPointer) -> MHD_Result {
        switch step {
        case .head: readHead(handle, line: line)
        case .body(let limit, let respond):
            piece.isEmpty ? deliver(respond, handle) : append(piece, limit: limit, handle)
        case .refused(let response): answer(response, handle)
        case .discarding(let fault, let allowance):
            piece.isEmpty ? refuse(fault, handle) : discard(piece, because: fault, allowance: allowance)
        case .waiting(let pending): deliver(pending, handle)
        case .upgrading, .answered: .YES
        }
    }
}

// MARK: - The steps

extension Exchange {
    private func readHead(_ handle: OpaquePointer, line: RequestLine) -> MHD_Result {
        let limit = server.options.maxHeadBytes
        guard mhd_connection_head_size(handle) <= limit else { return refuse(.headTooLarge(limit: limit), handle) }
        do {
            let (head, framing) = try HeadReader.read(
                handle, line: line, target: target, from: connection.remoteAddress,
                maxFields: server.options.maxFields)
            self.head = head
            return admit(head, framing: framing, handle)
        } catch {
            return refuse(error, handle)
        }
    }

    private func admit(_ head: RequestHead, framing: Framing, _ handle: OpaquePointer) -> MHD_Result {
        endsConnection = framing == .chunked
        switch server.handler.admit(head) {
        case .refuse(let response):
            if framing.hasBody { return answer(response, handle, isLast: true) }
            step = .refused(response)
        case .accept(let chosen, let sink, let respond):
            let limit = chosen ?? server.options.maxBodyBytes
            self.sink = sink
            if case .length(let length) = framing {
                guard length <= limit else { return refuse(.bodyTooLarge(limit: limit), handle) }
                if sink == nil {
                    guard server.bodies.hasRoom(forBodyOf: length) else { return refuse(.bodiesTooLarge, handle) }
                    body.reserveCapacity(min(length, Self.firstReservation))
                }
            }
            step = .body(limit: limit, respond: respond)
            if framing.hasBody { recordBody(0) }
        }
        return .YES
    }

    /// Sets the time for the rest of the body.
    private func recordBody(_ count: Int) {
        receivedLength += count
        let pause = pausedSince.take().map { Connection.Instant.now - $0 } ?? .zero
        let start = (bodyStart ?? .now) + pause
        bodyStart = start
        let time = server.options.bodyTime(received: receivedLength, hasDeadline: sink == nil)
        connection.enter(.receiving(until: start + time))
    }

    private func append(_ piece: UnsafeRawBufferPointer, limit: Int, _ handle: OpaquePointer) -> MHD_Result {
        recordBody(piece.count)
        if let sink {
            guard receivedLength <= limit else {
                return discardBody(because: .bodyTooLarge(limit: limit), Self.discardLimit)
            }
            return pass(piece, to: sink, handle)
        }
        let length = body.count + piece.count
        guard length <= limit else { return discardBody(because: .bodyTooLarge(limit: limit), Self.discardLimit) }
        guard server.bodies.grow(from: budgetedLength, to: length) else {
            return discardBody(because: .bodiesTooLarge, limit)
        }
        budgetedLength = length
        body.append(contentsOf: piece)
        return .YES
    }

    private func pass(_ piece: UnsafeRawBufferPointer, to sink: any BodySink, _ handle: OpaquePointer) -> MHD_Result {
        let pause = BodyPause()
        guard !sink.take(piece, onRoom: { pause.end() }) else { return .YES }
        pausedSince = .now
        connection.enter(.paused(pause, until: .now + server.options.waitLimit))
        // Noted first, stage read afterwards: see ConnectionSet.
        guard server.connections.stage != .cutShort else { return .NO }
        if !pause.suspend(handle) { recordBody(0) }
        return .YES
    }

    private func discardBody(because fault: RequestFault, _ allowance: Int) -> MHD_Result {
        body = []
        sink?.abandon()
        sink = nil
        returnBudget()
        step = .discarding(fault, allowance: allowance)
        return .YES
    }

    private func returnBudget() {
        server.bodies.giveBack(bodyOf: budgetedLength)
        budgetedLength = 0
    }

    private func discard(_ piece: UnsafeRawBufferPointer, because fault: RequestFault, allowance: Int) -> MHD_Result {
        recordBody(piece.count)
        guard piece.count <= allowance else { return .NO }
        step = .discarding(fault, allowance: allowance - piece.count)
        return .YES
    }

    private func deliver(_ respond: (Request) -> Answer, _ handle: OpaquePointer) -> MHD_Result {
        guard let head else { return .NO }
        let request = Request(head: head, body: body)
        body = []
        sink = nil
        switch respond(request) {
        case .now(let response): return answer(response, handle)
        case .prepared(let response): return answer(response, handle)
        case .eventually(let limit, let work):
            return wait(head, atMost: limit, watching: false, handle) { $0.begin(work) }
        case .whileConnected(let work): return wait(head, watching: true, handle) { $0.begin(work) }
        case .parked(let begin): return wait(head, watching: true, handle, begin)
        case .webSocket(let upgrade): return accept(upgrade, handle)
        }
    }

    private func wait(
        _ head: RequestHead, atMost limit: Duration? = nil, watching: Bool, _ handle: OpaquePointer,
        _ begin: (DeferredResponse) -> Void
    ) -> MHD_Result {
        let pending = DeferredResponse(to: head)
        step = .waiting(pending)
        connection.enter(.waiting(pending, until: .now + (limit ?? server.options.waitLimit)))
        // Noted first, stage read afterwards: see ConnectionSet.
        guard server.connections.stage != .cutShort else { return refuse(.stopping, handle) }
        begin(pending)
        if watching { connection.beginWatching(server.disconnects) }
        return pending.suspend(handle) ? .YES : deliver(pending, handle)
    }

    private func deliver(_ pending: DeferredResponse, _ handle: OpaquePointer) -> MHD_Result {
        switch pending.take() {
        case nil: .YES
        case .response(let response): answer(response, handle)
        case .prepared(let prepared): answer(prepared, handle)
        }
    }

    func refuse(_ fault: RequestFault, _ handle: OpaquePointer) -> MHD_Result {
        answer(server.handler.malformed(fault, head), handle, isLast: true)
    }

    private func answer(_ prepared: PreparedResponse, _ handle: OpaquePointer) -> MHD_Result {
        connection.enter(.answering)
        // The last response of a connection says so in a field.
        guard server.connections.stage == .open, !endsConnection else { return answer(prepared.response, handle) }
        step = .answered
        kept = prepared
        return prepared.queue(on: handle)
    }

    private func answer(_ given: Response, _ handle: OpaquePointer, isLast: Bool = false) -> MHD_Result {
        let response = given.mayHaveContent ? given : given.withoutContent
        if case .head = step, isLast { connection.lingerWhenClosed() }
        if endsConnection { connection.lingerWhenClosed() }
        step = .answered
        kept = response.memory
        connection.endWatching(server.disconnects)
        connection.enter(Connection.Phase(sending: response.body))
        // Noted first, stage read afterwards: see ConnectionSet.
        let isClosing = server.connections.stage != .open
        if case .stream(let stream) = response.body {
            if isClosing { stream.close(.serverStopped) }
            if stream.length == nil {
                connection.keepLittleUnsent()
                connection.beginWatching(server.disconnects)
            }
        }
        guard
            let reply = MHDResponse(
                response, on: connection, handle: handle, toHead: head?.method == .head,
                isLast: isLast || isClosing || endsConnection)
        else {
            response.abandon()
            return .NO
        }
        return reply.queue(response.status, on: handle)
    }

    /// The memory in bytes that is reserved for a body with an announced length, which may not arrive.
    private static let firstReservation = 1 << 16
    /// The number of bytes of a body that are read beyond its limit in order to send a response. Beyond this, the
    /// connection is closed.
    private static let discardLimit = 1 << 20
}

extension Connection.Phase {
    fileprivate init(sending body: Body) {
        switch body {
        case .none, .bytes: self = .answering
        case .stream(let stream): self = .streaming(stream)
        case .file(let region): self = .sending(region)
        }
    }
}

extension Exchange {
    func accept(_ upgrade: WebSocketUpgrade, _ handle: OpaquePointer) -> MHD_Result {
        guard server.connections.stage == .open else { return refuse(.stopping, handle) }
        let limit = server.options.connectionsPerAddress
        guard server.webSockets.hasRoom(for: connection.network, perNetwork: limit) else {
            return refuse(.tooManyWebSockets, handle)
        }
        guard let reply = MHDResponse(upgrade) else { return .NO }
        step = .upgrading(upgrade)
        connection.enter(.answering)
        return reply.queue(.switchingProtocols, on: handle)
    }

    /// - Parameter received: bytes that have arrived behind the handshake.
    func handOver(_ socket: Int32, received: [UInt8]) {
        guard case .upgrading(let upgrade) = step, let duplicate = Descriptor(duplicating: socket) else { return }
        step = .answered
        server.webSockets.add(duplicate, received: received, network: connection.network, upgrade)
    }
}
