import Downloads
import Foundation

extension Transaction {
    /// Applies a signal to the state machine of the job, and writes all consequences: state, event, deliveries and
    /// batch.
    func transitionJob(_ id: JobID, on signal: JobSignal) throws -> SignalOutcome {
        try transitionJob(try job(id), on: signal)
    }

    func transitionJob(_ job: Job, on signal: JobSignal) throws -> SignalOutcome {
        switch job.state.deciding(signal) {
        case .refuse(let allowed): return .refused(job, allowed: allowed)
        case .remain(let effects):
            wakeJobs(for: effects)
            try requestStop(of: job, effects)
            return .done(job, then: effects)
        case .become(let state, let announcement, let effects):
            let next = try become(job.becoming(state, on: signal, at: now), from: job)
            if let announcement { try announce(announcement, of: next) }
            if let ending = next.state.ending { try leaveBatch(next, ending) }
            try updateSessionWaiting(next)
            wakeJobs(for: effects)
            return .done(next, then: effects, dropped: next.part == nil ? job.part?.id : nil)
        }
    }

    private func become(_ job: Job, from before: Job) throws -> Job {
        var next = job
        if let ending = before.state.ending {
            guard try !session(job.session).isFinishing else {
                throw StoreError.sessionFinishing(job.session, index: nil)
            }
            next.batch = try rejoinBatch(before, ending)
        }
        try save(next)
        if before.state.name == .running, next.state.name != .running { try forgetRequests(for: next) }
        return try self.job(next.id)
    }

    /// Appends `session.waiting` if the session is blocked now, or clears the flag if a job can run again.
    private func updateSessionWaiting(_ job: Job) throws {
        switch job.state {
        case .queued: try clearWaiting(of: job.session)
        case .waiting(let wait) where wait.name.needsHelp: try announceWaitingIfBlocked(of: job.session)
        case .succeeded, .failed, .cancelled: try announceWaitingIfBlocked(of: job.session)
        case .running, .waiting, .paused: break
        }
    }

    func wakeJobs(for effects: [JobEffect]) {
        if effects.contains(.wakeScheduler) { wake(.jobs) }
    }

    /// Appends the event, and a delivery for each webhook of the session whose patterns match.
    @discardableResult
    func announce(_ type: EventType, of job: Job) throws -> EventID {
        try append(type, session: job.session, job: job.id, data: job.announcement(type))
    }
}
