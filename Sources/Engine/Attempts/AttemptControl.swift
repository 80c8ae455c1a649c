import Base
import CurlClient
import Downloads
import Foundation
import Storage

/// The side of a running attempt that its observers use: they stop it, change its limits, and read its progress. Every
/// thread may use it.
///
/// An attempt either stops or finalizes its file, never both. A lock decides which of the two comes first.
final class AttemptControl: Sendable {
    enum Stop: Sendable, Equatable {
        /// The job's state machine decided the stop.
        case decided(AttemptStop)
        /// The bytes that the attempt wrote after its last checkpoint are lost.
        case failed(Failure)
        /// The service stops. This costs the job neither an attempt nor a delay.
        case shutdown

        fileprivate var isCancellation: Bool { if case .decided(.asked(.cancel)) = self { true } else { false } }
    }

    private struct State {
        var stop: Stop?
        var isFinalizing = false
        /// What a stop calls.
        var cancellations: [Int: @Sendable () -> Void] = [:]
        var registrations = 0
        var destination: Destination
        /// The job's own `connections`; nil: `admittedConnections` applies.
        var jobConnections: Int?
    }

    private let state: Locked<State>
    private let progress: Locked<Progress>
    private let time: any TimeSource
    private let total: ReceivedBytes

    /// The rate limits of the service, of the session and of the job, in that order.
    let rates: [RateLimit]
    private let jobRate: RateLimit
    private let admittedConnections: Int
    private let mayShare: Bool

    /// Opens when the attempt's end is committed.
    let ended = Latch()
    /// Set when the attempt may open another connection: one has ended, a host has room, or a limit has changed.
    let mayConnect = AsyncAutoResetEvent()

    init(of job: Job, _ spec: ResolvedSpec, under rates: [RateLimit], time: any TimeSource, total: ReceivedBytes) {
        self.time = time
        self.total = total
        jobRate = RateLimit(bytesPerSecond: job.spec.rateLimit)
        self.rates = rates + [jobRate]
        admittedConnections = spec.connections
        mayShare = !job.isCorrupt
        state = Locked(State(destination: job.spec.destination, jobConnections: job.spec.connections))
        progress = Locked(Progress(of: job, at: time.uptime))
    }
}

// MARK: - Stopping

extension AttemptControl {
    var stop: Stop? { state.withLock { $0.stop } }
    var isStopping: Bool { stop != nil }

    /// Stops the attempt. Has no effect after `beginFinalizing()`, because the file is then published shortly.
    func requestStop(_ stop: Stop) {
        let cancellations: [@Sendable () -> Void] = state.withLock { state in
            guard !state.isFinalizing else { return [] }
            // A cancellation replaces an earlier stop. Any other stop has no effect after the first one.
            if state.stop == nil || stop.isCancellation { state.stop = stop }
            return Array(state.cancellations.values)
        }
        for cancel in cancellations { cancel() }
    }

    /// Makes a stop call the function, also a stop that was requested before.
    ///
    /// - Returns: the argument of `unregister(_:)`.
    func register(_ cancel: @escaping @Sendable () -> Void) -> Int {
        let (registration, isStopped) = state.withLock { state in
            state.registrations += 1
            state.cancellations[state.registrations] = cancel
            return (state.registrations, state.stop != nil)
        }
        if isStopped { cancel() }
        return registration
    }

    func unregister(_ registration: Int) { state.withLock { $0.cancellations[registration] = nil } }

    /// - Returns: false when a stop was requested before.
    func beginFinalizing() -> Bool {
        state.withLock { state in
            guard state.stop == nil else { return false }
            state.isFinalizing = true
            return true
        }
    }
}

// MARK: - What a client can change

extension AttemptControl {
    var destination: Destination { state.withLock { $0.destination } }

    /// How many connections may fetch the file at once. It is 1 for a job whose file was fetched in pieces before and
    /// did not match its digest.
    var connections: Int { mayShare ? state.withLock { $0.jobConnections } ?? admittedConnections : 1 }

    /// Whether a rate limit is set. If so, a connection may be silent because fetchd delays it, not its server.
    var isRateLimited: Bool { rates.contains { $0.bytesPerSecond != nil } }

    /// Called in a commit's hook. Applies the changed fields that a running attempt can apply, to its running transfers
    /// too.
    func apply(_ spec: JobSpec) {
        state.withLock { state in
            state.destination = spec.destination
            state.jobConnections = spec.connections
        }
        jobRate.bytesPerSecond = spec.rateLimit
        mayConnect.set()
    }
}

// MARK: - Progress

extension AttemptControl {
    private struct Progress {
        var phase = LiveProgress.Phase.connecting
        var received: Int64
        /// The bytes of bodies that have arrived in this attempt, also those that the part does not need.
        var transferred: Int64 = 0
        /// The bytes that the store has committed. A crash would cut off bytes that are only synced.
        var durable: Int64
        var expected: Int64?
        var resume: ResumeOutcome?
        var part: PartID?
        var meter: RateMeter
        var lastSnapshot: LiveProgress?

        init(of job: Job, at now: Duration) {
            received = job.bytesDurable
            durable = job.bytesDurable
            expected = job.bytesExpected
            meter = RateMeter(since: now)
        }
    }

    func enter(_ phase: LiveProgress.Phase) { progress.withLock { $0.phase = phase } }

    func beginTransfer(of file: SegmentedFile) {
        let now = time.uptime
        progress.withLock { progress in
            progress.phase = .transferring
            progress.part = file.part.id
            progress.durable = file.part.durable.count
            progress.received = file.initialBytes
            progress.expected = file.size
            progress.resume = file.outcome
            progress.meter = RateMeter(since: now)
        }
    }

    /// Called after the store has committed the part, so a crash does not lose its bytes.
    func recordCheckpoint(of part: Part) {
        progress.withLock { progress in
            if progress.part == part.id { progress.durable = part.bytesDurable }
        }
    }

    var transferred: Int64 { progress.withLock { $0.transferred } }

    func recordArrival(of bytes: Int) { progress.withLock { $0.transferred += Int64(bytes) } }

    func recordWrite(of bytes: Int) {
        let now = time.uptime
        total.add(Int64(bytes), at: now)
        progress.withLock { progress in
            progress.received += Int64(bytes)
            progress.meter.add(Int64(bytes), at: now)
        }
    }

    var live: LiveProgress {
        let (now, isStopping) = (time.uptime, isStopping)
        return progress.withLock { progress in
            let rate = progress.phase == .transferring ? progress.meter.rate(at: now) : nil
            var view = LiveProgress(
                phase: isStopping ? .stopping : progress.phase, bytesReceived: progress.received,
                bytesDurable: progress.durable, bytesExpected: progress.expected,
                bytesPerSecond: rate.map { Int64($0.rounded()) }, resume: progress.resume,
                tick: progress.lastSnapshot?.tick ?? 1)
            if let last = progress.lastSnapshot, last != view { view.tick += 1 }
            progress.lastSnapshot = view
            return view
        }
    }
}
