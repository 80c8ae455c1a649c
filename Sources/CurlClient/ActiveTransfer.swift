import CCurl
import Glibc

/// A transfer inside the loop: what libcurl reports about it, put together with what its handler wants of it.
///
/// It lives on the loop's thread. The decisions are values of their own (`HeadParser`, `Window`, `Patience`); this class
/// is where they meet.
final class ActiveTransfer {
    let id: TransferID
    let request: TransferRequest
    let handler: any TransferHandler
    let easy: EasyHandle
    private let services: LoopServices

    private var parser: HeadParser
    private var gatherer: ChunkGatherer
    private let window: SharedWindow
    private var patience: Patience
    private var uploaded: Int64 = 0
    private var isPaused = false
    /// Bytes thrown away after a rejected head.
    private var discarded = 0

    private(set) var head: ResponseHead?
    private(set) var bytesReceived: Int64 = 0
    private(set) var evidence = Evidence()
    /// How it ends, decided here before libcurl knows.
    private(set) var outcome: TransferResult.Outcome?

    /// What was seen on the way that a result code does not say.
    struct Evidence {
        var remoteAddress: String?
        var refusedAddress: IPAddress?
        var wasRefused = false
        var wasAdmitted = false
        var lacksDescriptors = false
        var isConnected: Bool { remoteAddress != nil }
    }

    init(_ submission: Submission, easy: EasyHandle, services: LoopServices) {
        id = submission.id
        request = submission.request
        handler = submission.handler
        self.easy = easy
        self.services = services
        parser = HeadParser(byteLimit: services.options.headBytes)
        window = SharedWindow(
            of: submission.id, capacity: services.options.windowBytes, mailbox: services.mailbox)
        gatherer = ChunkGatherer(pool: services.pool, window: window)
        patience = Patience(submission.request.timeouts, start: services.agenda.now)
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
        let isAdmitted = services.admits(address)
        if isAdmitted {
            evidence.wasAdmitted = true
        } else {
            evidence.wasRefused = true
            evidence.refusedAddress = address
        }
        return isAdmitted
    }

    func socketFailed(errno: Int32) {
        evidence.lacksDescriptors = errno == EMFILE || errno == ENFILE
    }

    /// A connection, new or reused, is about to carry the request.
    func connected(to address: String) -> Bool {
        evidence.remoteAddress = address
        let ip = IPAddress(address)
        guard services.admits(ip) else {
            outcome = .failed(.addressRefused(ip))
            return false
        }
        progressed()
        planWakeUp()
        return true
    }

    /// False ends the transfer.
    func received(headLine line: UnsafeRawBufferPointer) -> Bool {
        progressed()
        do {
            guard case .head(var head) = try parser.feed(line) else { return true }
            head.remoteAddress = evidence.remoteAddress ?? ""
            return judge(head)
        } catch {
            outcome = .failed(error)
            return false
        }
    }

    private func judge(_ head: ResponseHead) -> Bool {
        self.head = head
        guard handler.received(head: head) == .reject else { return true }
        outcome = .rejected
        services.rejected(id)
        // The body, or its end, often came with the head. Then the connection is good for another request; the loop
        // ends the transfer if it is not done by the end of this turn.
        return true
    }

    func received(body bytes: UnsafeRawBufferPointer) -> BodyVerdict {
        guard outcome == nil, head != nil else { return discard(bytes) }
        progressed()
        if !window.hasRoom(for: bytes.count) { flush() }
        guard window.take(bytes.count) else {
            isPaused = true
            patience.paused()
            return .pause
        }
        bytesReceived += Int64(bytes.count)
        gatherer.append(bytes, at: services.agenda.now) { handler.received(chunk: $0) }
        if let since = gatherer.pendingSince {
            services.agenda.lookAgain(at: id, when: since + services.options.flushInterval)
        }
        return .taken
    }

    private func discard(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
        discarded += bytes.count
        return outcome == .rejected && discarded <= Self.discardLimit ? .taken : .abort
    }

    private func progressed() {
        patience.progressed(at: services.agenda.now)
    }
}

// MARK: - What the loop asks

extension ActiveTransfer {
    /// Hands over what was gathered.
    func flush() {
        if let chunk = gatherer.takePending() { handler.received(chunk: chunk) }
    }

    /// Goes on after a pause. libcurl may deliver, or fail, before this returns.
    func resume() -> CURLcode {
        guard isPaused else { return CURLE_OK }
        isPaused = false
        progressed()
        planWakeUp()
        return easy.resume()
    }

    /// Does what is due. Returns the deadline that has passed, if one has.
    func wakeUp() -> TransferError.Deadline? {
        let now = services.agenda.now
        if let since = gatherer.pendingSince, since + services.options.flushInterval <= now { flush() }
        noticeUpload()
        if case .isExhausted(let deadline) = patience.verdict(at: now) { return deadline }
        planWakeUp()
        return nil
    }

    private func planWakeUp() {
        if case .waits(until: let moment?) = patience.verdict(at: services.agenda.now) {
            services.agenda.lookAgain(at: id, when: moment)
        }
        if let since = gatherer.pendingSince {
            services.agenda.lookAgain(at: id, when: since + services.options.flushInterval)
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
