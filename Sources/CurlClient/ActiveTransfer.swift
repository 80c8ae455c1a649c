import CCurl
import Formats
import Glibc

/// A transfer that the loop runs. It combines the reports of libcurl with the requests of the handler.
///
/// It is confined to the thread of the loop. Values make the decisions (`HeadParser`, `Window`, `RateReservation`,
/// `TransferTimeouts`, `LowSpeedMonitor`), and this class connects them.
final class ActiveTransfer {
    let id: TransferID
    let request: TransferRequest
    let handler: any TransferHandler
    let easy: EasyHandle
    private let services: LoopServices
    private let start: ContinuousClock.Instant

    private var parser: HeadParser
    /// Parses the proxy's responses to `CONNECT`, which come before the response of the host.
    private var tunnelParser: HeadParser
    /// A head that is final only if no other head follows.
    private var provisionalHead: ResponseHead?
    private var chunkBuilder: ChunkBuilder
    private var burst = Burst()
    private let window: SharedWindow
    private var reservation: RateReservation
    private var timeouts: TransferTimeouts
    private var lowSpeedMonitor: LowSpeedMonitor?
    private var uploaded: Int64 = 0
    private var isPaused = false
    private var discarded = 0

    private(set) var awaitedHost: NamedHost?
    /// The time from the start of the transfer until the addresses were found.
    private(set) var lookupTime: Duration?
    private(set) var head: ResponseHead?
    private(set) var bytesReceived: Int64 = 0
    private(set) var connectionState = ConnectionState()
    /// Set when the transfer decides its outcome before libcurl reports an end.
    private(set) var outcome: TransferResult.Outcome?

    /// What libcurl may deliver in this turn without another look at window, limits and times. It divides one read into pieces of
    /// 16 KiB, so at a high rate the looks would cost more than the copies.
    private struct Burst {
        /// In the unfinished chunk.
        var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        /// Bytes that are not counted yet.
        var taken = 0
    }

    /// Facts about the connection that a result code of libcurl does not contain.
    struct ConnectionState {
        var remoteAddress: String?
        var refusedAddress: IPAddress?
        var wasRefused = false
        var wasAdmitted = false
        var lacksDescriptors = false
        /// Those that libcurl has opened since the last request.
        var sockets: [Int32] = []
        /// True until a connection is ready for the request. If the transfer uses a proxy, responses come from the
        /// proxy until then.
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
            of: submission.id, capacity: submission.request.windowBytes ?? services.options.windowBytes,
            within: services.held, mailbox: services.mailbox)
        chunkBuilder = ChunkBuilder(
            pool: services.pool, window: window, patience: services.options.flushInterval)
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

    /// Reading more bytes than this of a rejected body costs more than a new connection.
    private static let discardLimit = 64 * 1024

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

    /// - Parameter socket: the descriptor; negative if the socket could not be opened.
    func socketOpened(_ socket: Int32, errno: Int32) {
        if socket >= 0 {
            services.sockets.opened(socket)
            connectionState.sockets.append(socket)
        } else {
            connectionState.lacksDescriptors = errno == EMFILE || errno == ENFILE
        }
    }

    /// The error for a refused address. If the transfer uses a proxy, the address is that of the proxy.
    func refusal(of address: IPAddress?) -> TransferError {
        request.proxy == nil ? .addressRefused(address) : .proxyAddressRefused(address)
    }

    private func mayTalk(to address: IPAddress?) -> Bool { request.admits(address, by: services.options) }

    /// libcurl calls this before it sends the request over a connection, new or reused.
    func connected(_ connection: SocketRegistry.Endpoints) -> Bool {
        connectionState.remoteAddress = connection.remoteAddress
        connectionState.isConnecting = false
        let ip = IPAddress(connection.remoteAddress)
        guard mayTalk(to: ip) else {
            outcome = .failed(refusal(of: ip))
            return false
        }
        // All connections to a Unix domain socket have the same endpoints, so the registry cannot tell them apart.
        if request.unixSocket == nil { services.sockets.willSend(through: connection, opened: connectionState.sockets) }
        connectionState.sockets = []
        progressed()
        planWakeUp()
        return true
    }

    func received(headLine line: UnsafeRawBufferPointer) -> Bool {
        progressed()
        if request.isTunnelled, connectionState.isConnecting {
            received(tunnelLine: line)
            return true
        }
        do {
            guard var head = try parser.feed(line) else { return true }
            head.remoteAddress = connectionState.remoteAddress ?? ""
            // A 407 through a tunnel or a SOCKS proxy is a response of the server.
            head.isOfProxy = head.status == 407 && request.proxy?.scheme == .http && !request.isTunnelled
            received(head)
            return true
        } catch {
            outcome = .failed(error)
            return false
        }
    }

    /// Parses a line of a response to `CONNECT`. libcurl reports malformed responses and refusals of the proxy. Only
    /// status 407 reaches the handler, which can supply credentials, and status 401, which tinyproxy sends instead if
    /// the credentials are wrong.
    private func received(tunnelLine line: UnsafeRawBufferPointer) {
        guard var head = try? tunnelParser.feed(line), [401, 407].contains(head.status) else { return }
        // No request follows, so the prerequest callback does not report the address.
        connectionState.remoteAddress = easy.string(CURLINFO_PRIMARY_IP)
        head.remoteAddress = connectionState.remoteAddress ?? ""
        head.isOfProxy = true
        evaluate(head)
        outcome = outcome ?? .completed
    }

    private func received(_ head: ResponseHead) {
        // An earlier head was not the final one.
        provisionalHead = nil
        guard request.mayGoOn(after: head) else { return evaluate(head) }
        provisionalHead = head
        parser.expectAnotherHead()
    }

    private func evaluate(_ head: ResponseHead) {
        self.head = head
        if handler.received(head: head) == .reject {
            outcome = .rejected
            // The complete body often arrives together with the head, and then the connection can be reused. If the
            // transfer is not complete at the end of this turn, the loop ends it.
            services.rejected(id)
        } else if lowSpeedMonitor != nil {
            lowSpeedMonitor?.started(at: services.timers.now)
            planWakeUp()
        }
    }

    private func evaluateProvisionalHead() {
        guard let head = provisionalHead.take() else { return }
        parser.expectNoOtherHead()
        evaluate(head)
    }

    func received(body bytes: UnsafeRawBufferPointer) -> BodyVerdict {
        if burst.taken + bytes.count < burst.room.count {
            UnsafeMutableRawBufferPointer(rebasing: burst.room[burst.taken...]).copyMemory(from: bytes)
            burst.taken += bytes.count
            return .taken
        }
        endBurst()
        // If libcurl continues with another request, it does not deliver the body of this response. So this head is final.
        evaluateProvisionalHead()
        guard outcome == nil, head != nil else { return discard(bytes) }
        progressed()
        guard reservation.readyTime(at: services.timers.now) == nil else { return pause() }
        if !window.hasRoom(for: bytes.count) { flush() }
        guard account(for: bytes.count) else { return pause() }
        let due = chunkBuilder.due
        chunkBuilder.append(bytes, at: services.timers.now) { handler.received(chunk: $0) }
        if chunkBuilder.due != due { services.record(id, unfinishedUntil: chunkBuilder.due) }
        if bytes.count == CURL_MAX_WRITE_SIZE, reservation.isUnlimited { beginBurst() }
        return .taken
    }

    private func beginBurst() {
        burst.room = .init(rebasing: chunkBuilder.room.prefix(window.openRoom))
        services.beginBurst(of: self)
    }

    /// Counts the bytes of a burst.
    func endBurst() {
        let taken = burst.taken
        burst = Burst()
        guard taken > 0 else { return }
        chunkBuilder.extend(by: taken)
        _ = account(for: taken)
    }

    /// Counts bytes of the body, and pauses the transfer if they close the window.
    ///
    /// - Returns: false if the window has no room for them.
    private func account(for bytes: Int) -> Bool {
        let admission = window.take(bytes)
        guard admission != .refused else { return false }
        reservation.take(bytes)
        lowSpeedMonitor?.received(bytes)
        bytesReceived += Int64(bytes)
        if admission == .closed, !isPaused, easy.pause() == CURLE_OK { _ = pause() }
        return true
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

    /// What libcurl had read before a pause can follow it.
    private func progressed() { if !isPaused { timeouts.progressed(at: services.timers.now) } }
}

// MARK: - What the loop asks

extension ActiveTransfer {
    /// Waits for the addresses of the host, at most for the connect timeout.
    func awaitAddresses(of host: NamedHost) {
        awaitedHost = host
        timeouts.lookupBegan(deadline: start + request.timeouts.connect)
        planWakeUp()
    }

    /// Passes the addresses to libcurl, together with the rest of the connect timeout.
    ///
    /// - Throws: the lookup failure if there are no addresses.
    func take(_ addresses: [IPAddress], of host: NamedHost) throws(TransferError) {
        awaitedHost = nil
        timeouts.lookupEnded()
        guard !addresses.isEmpty else { throw request.nameFailure(isLate: false) }
        let time = services.timers.now - start
        lookupTime = time
        try easy.use(host.entry(addresses))
        try easy.limitConnecting(to: request.timeouts.connect - time)
    }

    func flush() { handOver(chunkBuilder.takePending()) }

    /// Passes the unfinished chunk to the handler, because it did not become full in time.
    func flushOverdue() { handOver(chunkBuilder.takeOverdue()) }

    private func handOver(_ chunk: Chunk?) {
        services.record(id, unfinishedUntil: nil)
        if let chunk { handler.received(chunk: chunk) }
    }

    /// Continues after a pause, unless the window or a rate limit still blocks the transfer. libcurl may deliver bytes,
    /// or fail, before this returns.
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
        defer { services.endBurst() }
        return easy.resume()
    }

    func wakeUp() -> TransferError? {
        let now = services.timers.now
        noticeUpload()
        if case .hasExpired(let deadline) = timeouts.verdict(at: now, graceEnd: services.timers.graceEnd) {
            return deadline == .lookup ? request.nameFailure(isLate: true) : .timedOut(deadline)
        }
        if lowSpeedMonitor?.isTooSlow(at: now) == true { return .tooSlow }
        planWakeUp()
        return nil
    }

    func completed(_ code: CURLcode) -> TransferResult.Outcome {
        if code == CURLE_OK { evaluateProvisionalHead() }
        return outcome(for: code)
    }

    /// Passes the unfinished chunk to the handler, and returns unused bytes to the rate limits. The loop calls it last.
    func close() {
        services.endBurst()
        flush()
        reservation.close(at: services.timers.now)
    }

    private func planWakeUp() {
        let now = services.timers.now
        if case .waits(until: let moment?) = timeouts.verdict(at: now, graceEnd: services.timers.graceEnd) {
            services.timers.schedule(id, at: moment)
        }
        if let moment = lowSpeedMonitor?.nextCheck { services.timers.schedule(id, at: moment) }
        if isPaused, let moment = reservation.readyTime(at: now) { services.timers.schedule(id, at: moment) }
    }

    /// An upload in progress is not idle time. libcurl has no callback for uploads except one for every packet, so this
    /// compares its counter when a timeout is checked.
    private func noticeUpload() {
        guard request.body != nil || request.bodyFile != nil, head == nil else { return }
        guard let sent = easy.offset(CURLINFO_SIZE_UPLOAD_T), sent > uploaded else { return }
        uploaded = sent
        progressed()
    }
}

extension ActiveTransfer {
    /// The outcome for a result code of libcurl, unless the outcome was decided before libcurl ended.
    func outcome(for code: CURLcode) -> TransferResult.Outcome {
        if let outcome { return outcome }
        if code == CURLE_OK { return head == nil ? .failed(.protocolError("no response head")) : .completed }
        return .failed(TransferError(code, of: self))
    }

    func result(_ outcome: TransferResult.Outcome) -> TransferResult {
        TransferResult(outcome: outcome, head: head, bytesReceived: bytesReceived, metrics: metrics())
    }

    private func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.remoteAddress = connectionState.remoteAddress
        metrics.redirectURL = head?.redirectTarget(from: request.url)
        metrics.bodyEndKnown = head?.marksBodyEnd(method: request.method) ?? false
        metrics.total = fromStart(CURLINFO_TOTAL_TIME_T)
        measureSteps(&metrics)
        return metrics
    }

    /// libcurl measures all times from its own start. The lookup of the name happens before that.
    private func fromStart(_ info: CURLINFO) -> Duration? { easy.duration(info).map { $0 + (lookupTime ?? .zero) } }

    /// The duration of a step is the difference between two times that libcurl reports.
    private func measureSteps(_ metrics: inout TransferMetrics) {
        let named = easy.duration(CURLINFO_NAMELOOKUP_TIME_T)
        let connected = easy.duration(CURLINFO_CONNECT_TIME_T)
        let secured = easy.duration(CURLINFO_APPCONNECT_TIME_T)
        metrics.nameLookup = lookupTime ?? named
        if let named, let connected { metrics.connect = max(.zero, connected - named) }
        if let connected, let secured { metrics.tls = max(.zero, secured - connected) }
        if head != nil { metrics.timeToFirstByte = fromStart(CURLINFO_STARTTRANSFER_TIME_T) }
    }
}

extension EasyHandle {
    /// nil if the transfer did not reach this point, for which libcurl reports 0.
    fileprivate func duration(_ info: CURLINFO) -> Duration? {
        guard let microseconds = offset(info), microseconds > 0 else { return nil }
        return .microseconds(microseconds)
    }
}
