import Base
import CCurl
import Formats

/// The loop of the client's thread. It waits for sockets, commands and timers, and makes all calls to libcurl.
///
/// One turn handles the ready sockets, the commands and the timeout of libcurl, ends completed and rejected transfers,
/// and checks the timers of transfers. Handlers are called during a turn. Their calls come back as commands in the next
/// turn, so the loop is never re-entered.
final class TransferLoop {
    let name: String
    let ended: Latch
    let services: LoopServices
    private let recorder: Locked<LoopMetricsRecorder>
    private let poller: Poller
    private var multi: MultiHandle
    private(set) var active: [TransferID: ActiveTransfer] = [:]
    var dnsCache: DNSCache
    private var isShuttingDown = false

    private var options: CurlClient.Options { services.options }
    private var mailbox: Mailbox { services.mailbox }
    var timers: LoopTimers { services.timers }

    init(
        name: String, options: CurlClient.Options, mailbox: Mailbox, recorder: Locked<LoopMetricsRecorder>, ended: Latch
    ) throws(CurlClientError) {
        self.name = name
        self.recorder = recorder
        self.ended = ended
        dnsCache = DNSCache(limit: options.maxLookups)
        services = LoopServices(options: options, mailbox: mailbox)
        poller = try Poller()
        multi = try MultiHandle(
            poller: poller, connections: services.sockets, maxIdleConnections: options.maxIdleConnections)
        poller.watch(mailbox.descriptor, for: .read)
    }

    /// Runs until it is shut down and the mailbox is empty.
    func run() {
        while !(isShuttingDown && mailbox.closeIfEmpty()) {
            let pause = mailbox.prepareToSleep() && !isShuttingDown ? sleepLimit() : 0
            poller.sleep(milliseconds: pause)
            beginTurn(after: pause)
            serveSockets()
            for command in mailbox.takeAll() { handle(command) }
            if let deadline = multi.deadline, deadline <= .now { check(multi.actOnTimeout()) }
            endCompleted()
            endRejected()
            serveDeadlines()
            flushOverdue()
            endTurn()
        }
    }

    /// - Parameter pause: the planned sleep in milliseconds; -1: no limit.
    private func beginTurn(after pause: Int32) {
        timers.readClock(after: pause < 0 ? nil : .milliseconds(pause))
        let due = [earliestDeadline, mailbox.waitingSince].compactMap(\.self).min()
        recorder.withLock { $0.beginTurn(at: timers.now, due: due) }
    }

    private func endTurn() {
        let lookups = (dnsCache.runningCount, dnsCache.queuedCount)
        recorder.withLock { $0.endTurn(at: .now, lookups: lookups) }
    }

    private func serveSockets() {
        poller.forEachReady { descriptor, interest in
            if descriptor == mailbox.descriptor {
                mailbox.acknowledgeWakeUp()
            } else {
                check(multi.act(on: descriptor, interest))
            }
        }
    }

    private var earliestDeadline: ContinuousClock.Instant? {
        [multi.deadline, timers.earliest, services.earliestOverdue].compactMap(\.self).min()
    }

    private func sleepLimit() -> Int32 {
        guard let deadline = earliestDeadline else { return -1 }
        return Int32(clamping: min((deadline - .now).wholeMilliseconds, Self.longestSleep))
    }

    /// In milliseconds. A pause of the process within a longer sleep could remain unnoticed.
    private static let longestSleep = 5_000

    /// Runs last in the turn, with the time of its beginning. So bytes that arrived in time count, even if a slow
    /// handler delayed their reading, and a completed transfer is not late.
    private func serveDeadlines() {
        while let id = timers.popDue() {
            if let transfer = active[id] { checkDeadlines(of: transfer) }
        }
    }

    private func flushOverdue() { while let id = services.takeOverdue() { active[id]?.flushOverdue() } }

    private func checkDeadlines(of transfer: ActiveTransfer) {
        if let error = transfer.wakeUp() { return end(transfer, .failed(error)) }
        resume(transfer)
    }

    private func endCompleted() {
        while let (transfer, code) = multi.nextCompletion() { end(transfer, transfer.completed(code)) }
    }

    private func endRejected() {
        for id in services.takeRejected() {
            if let transfer = active[id] { end(transfer, .rejected) }
        }
    }

    /// An error of the multi handle makes it unusable. Its transfers fail, and a new handle replaces it. Transfers that
    /// wait for addresses are not added to it yet.
    private func check(_ code: CURLMcode) {
        services.endBurst()
        guard code != CURLM_OK else { return }
        let message = String(cString: curl_multi_strerror(code))
        for transfer in active.values where transfer.awaitedHost == nil {
            end(transfer, .failed(.other(code: code.rawValue, message: message)))
        }
        let fresh = try? MultiHandle(
            poller: poller, connections: services.sockets, maxIdleConnections: options.maxIdleConnections)
        if let fresh { multi = fresh }
    }
}

// MARK: - Commands

extension TransferLoop {
    private func handle(_ command: Command) {
        switch command {
        case .start(let submission): begin(submission)
        case .cancel(let id):
            if let transfer = active[id] { end(transfer, .cancelled) }
        case .resume(let id):
            if let transfer = active[id] { resume(transfer) }
        case .rateLimitChanged(let id):
            if let transfer = active[id] { checkDeadlines(of: transfer) }
        case .completeLookup(let name, let addresses): completeLookup(name, addresses)
        case .shutdown:
            isShuttingDown = true
            for transfer in active.values { end(transfer, .cancelled) }
        }
    }

    private func begin(_ submission: Submission) {
        guard !isShuttingDown else { return submission.handler.finished(TransferResult(outcome: .cancelled)) }
        do throws(TransferError) {
            try submission.request.validate()
            try submission.request.checkDestination(by: options)
            let host = try submission.request.namedHost
            let easy = try EasyHandle()
            let transfer = ActiveTransfer(submission, easy: easy, services: services)
            try easy.prepare(submission.request, beside: active.count)
            try easy.report(to: transfer, services.sockets)
            active[transfer.id] = transfer
            if let host { find(host, for: transfer) } else { launch(transfer) }
        } catch {
            timers.cancel(submission.id)
            submission.handler.finished(TransferResult(outcome: .failed(error)))
        }
    }

    /// Adds the transfer to libcurl.
    func launch(_ transfer: ActiveTransfer) {
        let code = multi.add(transfer.easy)
        guard code != CURLM_OK else { return }
        let message = String(cString: curl_multi_strerror(code))
        end(transfer, .failed(.other(code: code.rawValue, message: message)))
    }

    private func resume(_ transfer: ActiveTransfer) {
        let code = transfer.resume()
        // libcurl may also report the same end as a completion. The second end finds no active transfer.
        guard code != CURLE_OK, active[transfer.id] != nil else { return }
        end(transfer, transfer.outcome(for: code))
    }

    /// Every started transfer ends here.
    func end(_ transfer: ActiveTransfer, _ outcome: TransferResult.Outcome) {
        guard active.removeValue(forKey: transfer.id) != nil else { return }
        timers.cancel(transfer.id)
        giveUpLookup(for: transfer)
        transfer.close()
        let result = transfer.result(outcome)
        multi.remove(transfer.easy)
        transfer.handler.finished(result)
    }
}

/// Name lookups of the loop.
///
/// libcurl itself would use a thread for each transfer: five hundred threads for one name that five hundred transfers
/// need. It would start one more for each later attempt, because a lookup continues after all transfers have given up.
/// So the loop looks the names up by the rules of `DNSCache`, and passes the addresses to libcurl.
extension TransferLoop {
    func find(_ host: NamedHost, for transfer: ActiveTransfer) {
        if let addresses = dnsCache.lookUp(host.name, for: transfer.id, at: timers.now) {
            return connect(transfer, to: host, addresses)
        }
        transfer.awaitAddresses(of: host)
        beginLookups()
    }

    /// Continues the transfers that waited for the name.
    func completeLookup(_ name: String, _ addresses: [IPAddress]) {
        for id in dnsCache.completeLookup(name, addresses, at: timers.now) {
            guard let transfer = active[id], let host = transfer.awaitedHost else { continue }
            connect(transfer, to: host, addresses)
        }
        beginLookups()
    }

    func giveUpLookup(for transfer: ActiveTransfer) {
        guard let host = transfer.awaitedHost else { return }
        dnsCache.cancel(transfer.id, waitingFor: host.name)
    }

    private func connect(_ transfer: ActiveTransfer, to host: NamedHost, _ addresses: [IPAddress]) {
        do throws(TransferError) {
            try transfer.take(addresses, of: host)
            launch(transfer)
        } catch {
            end(transfer, .failed(error))
        }
    }

    private func beginLookups() {
        let find = services.options.findsAddresses ?? SystemResolver.addresses(of:)
        while let name = dnsCache.beginLookup() {
            guard !SystemResolver.start(name, by: find, for: services.mailbox) else { continue }
            // No thread could be started. The end of another lookup frees one. If no lookup runs, the lookup fails.
            if !dnsCache.postpone(name, at: timers.now) { services.mailbox.post(.completeLookup(name, [])) }
            return
        }
    }
}

/// Starts the thread of the loop.
extension TransferLoop {
    /// Moves the loop to a new thread. The caller must not use it afterwards.
    func startThread() throws(CurlClientError) {
        nonisolated(unsafe) let loop = Unmanaged.passRetained(self)
        // The latch opens after the loop and everything that it owns are released.
        let failure = DetachedThread.start(named: name) { runToEnd(loop).open() }
        guard failure == 0 else {
            loop.release()
            throw .systemCallFailed("pthread_create", errno: failure)
        }
    }
}

private func runToEnd(_ loop: Unmanaged<TransferLoop>) -> Latch {
    let loop = loop.takeRetainedValue()
    loop.run()
    return loop.ended
}

/// Objects that the loop shares with its transfers. They are confined to the thread of the loop.
final class LoopServices {
    let options: CurlClient.Options
    let mailbox: Mailbox
    let pool: BufferPool
    let held: HeldBytes
    let timers = LoopTimers()
    let sockets = SocketRegistry()
    /// The transfers with an unfinished chunk, by the time until which it may wait for more bytes.
    private var unfinished = DeadlineQueue<TransferID>()
    private var rejectedTransfers: [TransferID] = []
    /// The transfer with bytes that are not counted yet. There is one, because libcurl delivers a read before it makes the next.
    private var bursting: ActiveTransfer?

    init(options: CurlClient.Options, mailbox: Mailbox) {
        self.options = options
        self.mailbox = mailbox
        pool = BufferPool(bufferBytes: max(1, options.chunkBytes))
        held = HeldBytes(limit: options.maxHeldBytes)
    }

    /// Records until when an unfinished chunk of a transfer may wait for more bytes; nil: there is none.
    func record(_ transfer: TransferID, unfinishedUntil moment: ContinuousClock.Instant?) {
        unfinished.remove(transfer)
        if let moment { unfinished.add(transfer, at: moment) }
    }

    /// When the next chunk is overdue.
    var earliestOverdue: ContinuousClock.Instant? { unfinished.earliest }

    /// Removes and returns a transfer whose chunk is overdue, or the oldest one if there are too many.
    func takeOverdue() -> TransferID? {
        let areTooMany = unfinished.count > options.maxUnfinishedChunks
        return unfinished.popDue(at: areTooMany ? timers.now + options.flushInterval : timers.now)
    }

    func beginBurst(of transfer: ActiveTransfer) {
        if transfer !== bursting { endBurst() }
        bursting = transfer
    }

    func endBurst() { bursting.take()?.endBurst() }

    /// Records a transfer with a rejected head, which the loop ends at the end of its turn.
    func rejected(_ transfer: TransferID) { rejectedTransfers.append(transfer) }

    func takeRejected() -> [TransferID] {
        defer { rejectedTransfers.removeAll(keepingCapacity: true) }
        return rejectedTransfers
    }
}
