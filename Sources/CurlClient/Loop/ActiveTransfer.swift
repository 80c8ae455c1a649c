import CCurl
import Glibc

/// A transfer inside the loop: what libcurl reports about it, put together with what its handler wants of it.
///
/// It lives on the loop's thread. The decisions are values of their own (`HeadParser`, `Window`, `RateReservation`, `TransferTimeouts`,
/// `LowSpeedMonitor`); this class is where they meet.
final class ActiveTransfer {
    let id: TransferID
    let request: TransferRequest
    let handler: any TransferHandler
    let easy: EasyHandle
    private let services: LoopServices
    private let start: ContinuousClock.Instant

    private var parser: HeadParser
    /// Reads the proxy's answers to `CONNECT`, which come before the host's.
    private var tunnelParser: HeadParser
    /// A head that is the last one only if no other follows.
    private var provisionalHead: ResponseHead?
    private var chunkBuilder: ChunkBuilder
    private let window: SharedWindow
    private var reservation: RateReservation
    private var timeouts: TransferTimeouts
    private var lowSpeedMonitor: LowSpeedMonitor?
    private var uploaded: Int64 = 0
    private var isPaused = false
    /// Bytes thrown away after a rejected head.
    private var discarded = 0

    /// The host whose addresses are being looked up.
    private(set) var awaitedHost: NamedHost?
    /// From the start until they were found.
    private(set) var lookupTime: Duration?
    private(set) var head: ResponseHead?
    private(set) var bytesReceived: Int64 = 0
    private(set) var connectionState = ConnectionState()
    /// How it ends, decided here before libcurl knows.
    private(set) var outcome: TransferResult.Outcome?

    /// What was seen on the way that a result code does not say.
    struct ConnectionState {
        var remoteAddress: String?
        var refusedAddress: IPAddress?
        var wasRefused = false
        var wasAdmitted = false
        var lacksDescriptors = false
        /// Until a connection is ready for the request: the proxy, if there is one, has the word.
        var isConnecting = true
        var isConnected: Bool { remoteAddress != nil }
    }

    init(_ submission: Submission, easy: EasyHandle, services: LoopServices) {
        id = submission.id
        request = submission.request
        handler = submission.handler
        self.easy = easy
        self.services = services
        start = services.timers.now
        parser = HeadParser(byteLimit: services.options.headBytes)
        tunnelParser = HeadParser(byteLimit: services.options.headBytes)
        window = SharedWindow(
            of: submission.id, capacity: services.options.windowBytes, mailbox: services.mailbox)
        chunkBuilder = ChunkBuilder(pool: services.pool, window: window)
        reservation = RateReservation(
            of: submission.id, under: submission.request.rateLimits, mailbox: services.mailbox)
        timeouts = TransferTimeouts(submission.request.timeouts, start: start)
        lowSpeedMonitor = LowSpeedMonitor(submission.request.minimumSpeed)
        planWakeUp()
    }
}

// MARK: - What libcurl reports

extension ActiveTransfer {
    enum BodyVerdict {
        case taken, pause, abort
    }

    /// More than this of an unwanted body is not worth the connection it would save.
    private static let discardLimit = 64 * 1024

    /// Whether a socket to this address may be opened.
    func admits(_ address: IPAddress?) -> Bool {
        let isAdmitted = mayTalk(to: address)
        if isAdmitted {
            connectionState.wasAdmitted = true
            connectionState.isConnecting = true
            tunnelParser = HeadParser(byteLimit: services.options.headBytes)
        } else {
            connectionState.wasRefused = true
            connectionState.refusedAddress = address
        }
        return isAdmitted
    }

    /// - Parameter socket: negative where there is none.
    func socketOpened(_ socket: Int32, errno: Int32) {
        if socket >= 0 {
            services.sockets.opened(socket)
        } else {
            connectionState.lacksDescriptors = errno == EMFILE || errno == ENFILE
        }
    }

    /// What it means that an address was refused: that of the proxy, if there is one.
    func refusal(of address: IPAddress?) -> TransferError {
        request.proxy == nil ? .addressRefused(address) : .proxyAddressRefused(address)
    }

    private func mayTalk(to address: IPAddress?) -> Bool {
        request.admitsAnyAddress || services.admits(address)
    }

    /// A connection, new or reused, is about to carry the request.
    func connected(_ connection: SocketRegistry.Endpoints) -> Bool {
        connectionState.remoteAddress = connection.remoteAddress
        connectionState.isConnecting = false
        let ip = IPAddress(connection.remoteAddress)
        guard mayTalk(to: ip) else {
            outcome = .failed(refusal(of: ip))
            return false
        }
        services.sockets.willSend(through: connection)
        progressed()
        planWakeUp()
        return true
    }

    /// False ends the transfer.
    func received(headLine line: UnsafeRawBufferPointer) -> Bool {
        progressed()
        if request.isTunnelled, connectionState.isConnecting {
            received(tunnelLine: line)
            return true
        }
        do {
            guard case .head(var head) = try parser.feed(line) else { return true }
            head.remoteAddress = connectionState.remoteAddress ?? ""
            received(head)
            return true
        } catch {
            outcome = .failed(error)
            return false
        }
    }

    /// Lines of an answer to `CONNECT`. What is wrong with them, or with the proxy's refusal, libcurl will say; only that
    /// the proxy wants credentials has an answer that a handler knows.
    private func received(tunnelLine line: UnsafeRawBufferPointer) {
        guard case .head(var head)? = try? tunnelParser.feed(line), head.status == 407 else { return }
        // No request will follow that would tell it.
        connectionState.remoteAddress = easy.string(CURLINFO_PRIMARY_IP)
        head.remoteAddress = connectionState.remoteAddress ?? ""
        judge(head)
        outcome = outcome ?? .completed
    }

    private func received(_ head: ResponseHead) {
        // Whatever came before, it was not the last one.
        provisionalHead = nil
        guard request.mayGoOn(after: head) else { return judge(head) }
        provisionalHead = head
        parser.expectAnotherHead()
    }

    private func judge(_ head: ResponseHead) {
        self.head = head
        if handler.received(head: head) == .reject {
            outcome = .rejected
            // The body, or its end, often came with the head. Then the connection is good for another request; the
            // loop ends the transfer if it is not done by the end of this turn.
            services.rejected(id)
        } else if lowSpeedMonitor != nil {
            lowSpeedMonitor?.started(at: services.timers.now)
            planWakeUp()
        }
    }

    /// No other head has followed: this one is what the server has to say.
    private func judgeProvisionalHead() {
        guard let head = provisionalHead.take() else { return }
        parser.expectNoOtherHead()
        judge(head)
    }

    func received(body bytes: UnsafeRawBufferPointer) -> BodyVerdict {
        // libcurl keeps the body of an answer to itself when it goes on by itself.
        judgeProvisionalHead()
        guard outcome == nil, head != nil else { return discard(bytes) }
        progressed()
        guard reservation.readyTime(at: services.timers.now) == nil else { return pause() }
        if !window.hasRoom(for: bytes.count) { flush() }
        guard window.take(bytes.count) else { return pause() }
        reservation.take(bytes.count)
        lowSpeedMonitor?.received(bytes.count)
        bytesReceived += Int64(bytes.count)
        chunkBuilder.append(bytes, at: services.timers.now) { handler.received(chunk: $0) }
        if let since = chunkBuilder.pendingSince {
            services.timers.schedule(id, at: since + services.options.flushInterval)
        }
        return .taken
    }

    private func pause() -> BodyVerdict {
        isPaused = true
        timeouts.paused()
        lowSpeedMonitor?.paused(at: services.timers.now)
        planWakeUp()
        return .pause
    }

    private func discard(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
        discarded += bytes.count
        return outcome == .rejected && discarded <= Self.discardLimit ? .taken : .abort
    }

    private func progressed() {
        timeouts.progressed(at: services.timers.now)
    }
}

// MARK: - What the loop asks

extension ActiveTransfer {
    /// Waits for the addresses of its host, as long as a connection may take.
    func awaitAddresses(of host: NamedHost) {
        awaitedHost = host
        timeouts.lookupBegan(deadline: start + request.timeouts.connect)
        planWakeUp()
    }

    /// What libcurl is to connect to, in the time that is left for it.
    ///
    /// - Throws: what it means when there are none.
    func take(_ addresses: [IPAddress], of host: NamedHost) throws(TransferError) {
        awaitedHost = nil
        timeouts.lookupEnded()
        guard !addresses.isEmpty else { throw request.nameFailure(isLate: false) }
        let time = services.timers.now - start
        lookupTime = time
        try easy.use(host.entry(addresses))
        try easy.limitConnecting(to: request.timeouts.connect - time)
    }

    /// Hands over what was gathered.
    func flush() {
        if let chunk = chunkBuilder.takePending() { handler.received(chunk: chunk) }
    }

    /// Goes on after a pause, unless something else still stands against it. libcurl may deliver, or fail, before this
    /// returns.
    func resume() -> CURLcode {
        guard isPaused else { return CURLE_OK }
        guard !window.isClosed, reservation.readyTime(at: services.timers.now) == nil else {
            planWakeUp()
            return CURLE_OK
        }
        isPaused = false
        progressed()
        lowSpeedMonitor?.started(at: services.timers.now)
        planWakeUp()
        return easy.resume()
    }

    /// Does what is due. Returns the demand that was not met, if there is one.
    func wakeUp() -> TransferError? {
        let now = services.timers.now
        if let since = chunkBuilder.pendingSince, since + services.options.flushInterval <= now { flush() }
        noticeUpload()
        if case .hasExpired(let deadline) = timeouts.verdict(at: now) {
            return deadline == .lookup ? request.nameFailure(isLate: true) : .timedOut(deadline)
        }
        if lowSpeedMonitor?.isTooSlow(at: now) == true { return .tooSlow }
        planWakeUp()
        return nil
    }

    /// What has come to its end, as libcurl sees it.
    func completed(_ code: CURLcode) -> TransferResult.Outcome {
        if code == CURLE_OK { judgeProvisionalHead() }
        return outcome(for: code)
    }

    /// The last thing it is asked: hands over what was gathered, and leaves its limits to others.
    func close() {
        flush()
        reservation.close(at: services.timers.now)
    }

    private func planWakeUp() {
        let now = services.timers.now
        if case .waits(until: let moment?) = timeouts.verdict(at: now) {
            services.timers.schedule(id, at: moment)
        }
        if let moment = lowSpeedMonitor?.nextCheck {
            services.timers.schedule(id, at: moment)
        }
        if isPaused, let moment = reservation.readyTime(at: now) {
            services.timers.schedule(id, at: moment)
        }
        if let since = chunkBuilder.pendingSince {
            services.timers.schedule(id, at: since + services.options.flushInterval)
        }
    }

    /// A body that still goes out is no silence. libcurl has no callback for it that would not be called for every
    /// packet, so its counter is compared when it matters.
    private func noticeUpload() {
        guard request.body != nil, head == nil else { return }
        guard let sent = easy.offset(CURLINFO_SIZE_UPLOAD_T), sent > uploaded else { return }
        uploaded = sent
        progressed()
    }
}
