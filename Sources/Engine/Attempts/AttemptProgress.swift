import Downloads
import Foundation
import Locks
import Storage

/// The live view of one attempt. The attempt's lane and task update it, and requests of clients read it.
final class AttemptProgress: Sendable {
    private struct State {
        var phase = LiveProgress.Phase.connecting
        var received: Int64
        /// Bytes of bodies that have arrived in this attempt, also those that the part does not need.
        var transferred: Int64 = 0
        /// Bytes that the store has committed. (A crash would cut off bytes that are only synced.)
        var promised: Int64
        var expected: Int64?
        var resume: ResumeOutcome?
        var part: PartID?
        var meter: RateMeter
        /// The last snapshot.
        var seen: LiveProgress?
    }

    private let state: Locked<State>
    private let time: any TimeSource
    private let total: ReceivedBytes

    /// - Parameter total: counts the bytes of all attempts.
    init(of job: Job, time: any TimeSource, total: ReceivedBytes) {
        self.time = time
        self.total = total
        state = Locked(
            State(
                received: job.bytesDurable, promised: job.bytesDurable, expected: job.bytesExpected,
                meter: RateMeter(since: time.uptime)))
    }

    func enter(_ phase: LiveProgress.Phase) { state.withLock { $0.phase = phase } }

    /// Called when a response was accepted whose bytes go to this part.
    func begin(_ part: PartFile, at offset: Int64, expected: Int64?, resume: ResumeOutcome) {
        let now = time.uptime
        state.withLock { state in
            state.phase = .transferring
            state.part = part.id
            state.promised = part.durable.count
            state.received = offset
            state.expected = expected
            state.resume = resume
            state.meter = RateMeter(since: now)
        }
    }

    /// Called after the store has committed the part, so a crash does not lose its bytes.
    func notePromise(_ part: Part) {
        state.withLock { state in
            if state.part == part.id { state.promised = part.bytesDurable }
        }
    }

    /// Of all connections of the attempt.
    var transferred: Int64 { state.withLock { $0.transferred } }

    /// Called when bytes of a body have arrived.
    func noteArrival(of bytes: Int) { state.withLock { $0.transferred += Int64(bytes) } }

    /// Called when bytes were written to the part.
    func add(_ bytes: Int) {
        let now = time.uptime
        total.add(Int64(bytes), at: now)
        state.withLock { state in
            state.received += Int64(bytes)
            state.meter.add(Int64(bytes), at: now)
        }
    }

    func snapshot(isStopping: Bool) -> LiveProgress {
        let now = time.uptime
        return state.withLock { state in
            let rate = state.phase == .transferring ? state.meter.rate(at: now) : nil
            var view = LiveProgress(
                phase: isStopping ? .stopping : state.phase, bytesReceived: state.received,
                bytesDurable: state.promised, bytesExpected: state.expected,
                bytesPerSecond: rate.map { Int64($0.rounded()) }, resume: state.resume, tick: state.seen?.tick ?? 1)
            if let seen = state.seen, seen != view { view.tick += 1 }
            state.seen = view
            return view
        }
    }
}
