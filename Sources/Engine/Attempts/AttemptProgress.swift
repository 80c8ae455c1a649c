import Downloads
import Foundation
import Locks

/// The live view of one attempt: written by its lane and its task, read by whoever polls.
final class AttemptProgress: Sendable {
    private struct State {
        var phase = LiveProgress.Phase.connecting
        var received: Int64
        var expected: Int64?
        var resume: ResumeOutcome?
        var part: PartFile?
        var meter: RateMeter
    }

    private let state: Locked<State>
    private let committed: Int64
    private let time: any TimeSource
    private let total: ReceivedBytes

    /// - Parameter total: what is counted there, too.
    init(of job: Job, time: any TimeSource, total: ReceivedBytes) {
        self.time = time
        self.total = total
        committed = job.bytesDurable
        state = Locked(
            State(received: job.bytesDurable, expected: job.bytesExpected, meter: RateMeter(since: time.now)))
    }

    func enter(_ phase: LiveProgress.Phase) { state.withLock { $0.phase = phase } }

    /// The head was judged: bytes go to this part from now on.
    func begin(_ part: PartFile, at offset: Int64, expected: Int64?, resume: ResumeOutcome) {
        let now = time.now
        state.withLock { state in
            state.phase = .transferring
            state.part = part
            state.received = offset
            state.expected = expected
            state.resume = resume
            state.meter = RateMeter(since: now)
        }
    }

    func add(_ bytes: Int) {
        let now = time.now
        total.add(Int64(bytes))
        state.withLock { state in
            state.received += Int64(bytes)
            state.meter.add(Int64(bytes), at: now)
        }
    }

    func snapshot(isStopping: Bool) -> LiveProgress {
        let now = time.now
        return state.withLock { state in
            LiveProgress(
                phase: isStopping ? .stopping : state.phase, bytesReceived: state.received,
                bytesDurable: state.part?.durable.count ?? committed, bytesExpected: state.expected,
                bytesPerSecond: state.phase == .transferring ? state.meter.rate(at: now) : nil, resume: state.resume)
        }
    }
}
