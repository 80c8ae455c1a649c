import Downloads
import Formats
import Foundation

/// What a signal makes of one job, decided before the transaction that writes it. The decision, the event and its text
/// take most of the time of a transition, so a reader prepares them while the writer writes others.
struct PreparedTransition: Sendable {
    enum Step: Sendable {
        /// The signal changes nothing.
        case none(SignalOutcome)
        case become(Job, announce: (type: EventType, data: String)?, then: [JobEffect])
        /// The writer decides: the job is running, had ended or has a part.
        case undecided
    }

    /// The job as it was read.
    let job: Job
    let signal: JobSignal
    /// Of the time at which this was prepared. After a jump of the clock, the job may have other times.
    let confidence: ClockConfidence
    let step: Step

    init(_ job: Job, on signal: JobSignal, at now: Date, _ confidence: ClockConfidence) {
        (self.job, self.signal, self.confidence) = (job, signal, confidence)
        step = job.part == nil ? Self.step(of: job, on: signal, at: now) : .undecided
    }

    private static func step(of job: Job, on signal: JobSignal, at now: Date) -> Step {
        switch job.state {
        case .running, .succeeded, .failed, .cancelled: return .undecided
        case .queued, .waiting, .paused: break
        }
        switch job.state.deciding(signal) {
        case .refuse(let allowed): return .none(.refused(job, allowed: allowed))
        case .remain(let effects): return .none(.done(job, then: effects))
        case .become(let state, let announcement, let effects):
            let next = job.becoming(state, on: signal, at: now)
            guard next.changesOnlyState(of: job) else { return .undecided }
            let event = announcement.map { (type: $0, data: JSON.object(next.announcement($0)).written) }
            return .become(next, announce: event, then: effects)
        }
    }
}

extension Job {
    /// Whether `Transaction.updateState` writes all that differs.
    fileprivate func changesOnlyState(of before: Job) -> Bool {
        var expected = before
        expected.state = state
        expected.revision = revision
        expected.finishedAt = finishedAt
        expected.resourceTime = resourceTime
        expected.isPartLost = isPartLost
        expected.hasSyncFailed = hasSyncFailed
        return self == expected
    }
}
