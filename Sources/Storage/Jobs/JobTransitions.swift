import Downloads
import Formats
import Foundation

/// The result of a signal that was applied to a job.
public enum SignalOutcome: Sendable, Equatable {
    /// The job as it is now, and the effects that the caller carries out. `dropped` is a part whose promise was
    /// removed.
    case done(Job, then: [JobEffect], dropped: PartID? = nil)
    /// The state does not allow the signal.
    case refused(Job, allowed: [JobState.Kind])
    /// A client has changed what the signal was based on. Nothing was written.
    case stale(Job)
    /// The attempt that sent the signal has ended, and the job was admitted again. This happens if the answer to the commit that
    /// ended the attempt was lost. Nothing was written.
    case superseded(Job)
    /// The verified file does not fit into the session's `max_total_size`. Nothing was written.
    case excess(Job, SizeLimit)

    public var job: Job {
        switch self {
        case .done(let job, _, _), .refused(let job, _), .stale(let job), .superseded(let job), .excess(let job, _): job
        }
    }
}

/// Applies signals to the state machines of jobs, and writes all consequences: states, events, deliveries and batches. Events and
/// batches are gathered, so that many jobs of a session write their batch once and insert their events together.
private struct JobTransitions {
    private let transaction: Transaction
    private var events: [NewEvent] = []
    /// Sessions whose current batch has changed in memory only.
    private var batches: Set<Name> = []
    /// Sessions of which a job was queued since `session.waiting` was announced.
    private var unblocked: Set<Name> = []

    init(_ transaction: Transaction) { self.transaction = transaction }

    mutating func apply(_ signal: JobSignal, to job: Job) throws -> SignalOutcome {
        switch job.state.transition(on: signal) {
        case .refuse(let allowed): return .refused(job, allowed: allowed)
        case .remain(let effects):
            wakeScheduler(for: effects)
            try transaction.requestStop(of: job, effects)
            return .done(job, then: effects)
        case .become(let state, let announcement, let effects):
            let next = try become(job.becoming(state, on: signal, at: transaction.now), from: job)
            if let announcement { events.append(NewEvent(announcement, of: next)) }
            if let ending = next.state.ending, try transaction.leaveBatch(next, ending) { batches.insert(next.session) }
            try updateSession(of: next)
            wakeScheduler(for: effects)
            return .done(next, then: effects, dropped: next.part == nil ? job.part?.id : nil)
        }
    }

    mutating func finish() throws {
        try transaction.append(events)
        for session in batches {
            if let batch = try transaction.currentBatch(session) { try transaction.update(batch) }
        }
        events = []
        batches = []
    }

    private mutating func become(_ job: Job, from before: Job) throws -> Job {
        var next = job
        if let ending = before.state.ending {
            // A batch that begins knows the number of its first event.
            try finish()
            guard try !transaction.session(job.session).isFinishing else {
                throw StoreError.sessionFinishing(job.session, index: nil)
            }
            next.batch = try transaction.rejoinBatch(before, ending)
        }
        let saved = try transaction.save(next)
        if before.state.name == .running, next.state.name != .running { try transaction.forgetRequests(for: next) }
        return saved
    }

    /// Appends `session.waiting` if the session is blocked now, or clears the flag if a job can run again.
    private mutating func updateSession(of job: Job) throws {
        switch job.state {
        case .queued:
            if unblocked.insert(job.session).inserted { try transaction.clearWaiting(of: job.session) }
        case .waiting(let wait) where wait.name.needsInput: try announceWaiting(of: job.session)
        case .succeeded, .failed, .cancelled: try announceWaiting(of: job.session)
        case .running, .waiting, .paused: break
        }
    }

    private mutating func announceWaiting(of session: Name) throws {
        guard try transaction.isBlocked(session) else { return }
        try finish()
        unblocked.remove(session)
        try transaction.announceWaiting(of: session)
    }

    private func wakeScheduler(for effects: [JobEffect]) {
        if effects.contains(.wakeScheduler) { transaction.wake(.jobs) }
    }
}

extension Transaction {
    @discardableResult
    func transitionJobs(_ signals: [(job: Job, signal: JobSignal)]) throws -> [SignalOutcome] {
        var transitions = JobTransitions(self)
        let outcomes = try signals.map { try transitions.apply($0.signal, to: $0.job) }
        try transitions.finish()
        return outcomes
    }

    /// Applies a signal to each job. A job that an error refuses leaves the others alone.
    func transitions(of jobs: [Job], on signal: JobSignal) throws -> [Result<SignalOutcome, StoreError>] {
        var transitions = JobTransitions(self)
        let results = try jobs.map { job -> Result<SignalOutcome, StoreError> in
            do {
                return .success(try transitions.apply(signal, to: job))
            } catch let error as StoreError where error.refusesAJob {
                return .failure(error)
            }
        }
        try transitions.finish()
        return results
    }

    func transitionJob(_ job: Job, on signal: JobSignal) throws -> SignalOutcome {
        try transitionJobs([(job, signal)])[0]
    }

    func announce(_ type: EventType, of job: Job) throws { try append([NewEvent(type, of: job)]) }
}

extension Store {
    /// Applies a signal to the outstanding jobs of a session, one step at a time, so that a large session does not block
    /// other writes. It reaches the jobs that exist when this begins, and perhaps later ones.
    ///
    /// A signal that stops attempts reaches the running jobs last, so that no queued job starts in the slot of one that was stopped.
    ///
    /// For `onCommit` see `Writer.write`. Throws `noSuchSession`.
    public func apply(
        _ signal: JobSignal, toJobsOf session: Name, limit: Int = 500,
        onCommit: @escaping @Sendable ([SignalOutcome]) -> Void = { _ in },
        afterStep body: ([SignalOutcome]) async -> Void = { _ in }
    ) async throws {
        // A job may have left its state between the passes.
        let passes: [[JobState.Kind]] =
            signal.stopsAttempts
            ? [[.queued, .waiting, .paused], [.running, .queued, .waiting]] : [[.running, .queued, .waiting, .paused]]
        for (pass, states) in passes.enumerated() {
            var last: JobID? = nil
            repeat {
                let ids = try await ids(
                    Self.outstandingJobs(states),
                    ["session": session.text, "after": last?.text ?? "", "limit": limit])
                // A deleted session is removed with its last job.
                if pass > 0, ids.isEmpty { break }
                let outcomes = try await writer.write(onCommit: onCommit) { transaction in
                    _ = try transaction.session(session)
                    // A job may have ended or changed since.
                    return try transaction.transitionJobs(transaction.jobs(ids).map { ($0, signal) })
                }
                await body(outcomes)
                last = ids.count == limit ? ids.last : nil
            } while last != nil
        }
    }

    /// Reads the next jobs of each state from an index, so jobs that have ended cost nothing.
    static func outstandingJobs(_ states: [JobState.Kind]) -> String {
        let jobs = states.map { state in
            let condition =
                state == .running
                ? "coalesce(session, '') = :session AND state = 'running'"
                : "session = :session AND state = '\(state.rawValue)' AND state <> 'running'"
            return """
                SELECT id FROM (SELECT id FROM jobs WHERE \(condition) AND id > :after ORDER BY id LIMIT :limit) AS \(state.rawValue)
                """
        }
        return jobs.joined(separator: "\nUNION ALL ") + "\nORDER BY id LIMIT :limit"
    }
}
