import Downloads
import Foundation

/// Writes the transitions of many jobs in one transaction: the same rows and events as one by one, in the same order. What
/// the jobs share is read once and written once: their session, its webhooks and their batch.
struct TransitionWriter {
    private let transaction: Transaction
    /// Whether the jobs were read in this transaction.
    private let jobsAreFresh: Bool
    private var sessions: [Name: SharedSession] = [:]
    private var events: [NewEvent] = []

    init(_ transaction: Transaction, jobsAreFresh: Bool) {
        (self.transaction, self.jobsAreFresh) = (transaction, jobsAreFresh)
    }

    /// - Returns: the outcomes in the order of the transitions, without jobs that do not exist any more.
    mutating func write(_ transitions: [PreparedTransition]) throws -> [SignalOutcome] {
        var outcomes: [SignalOutcome] = []
        outcomes.reserveCapacity(transitions.count)
        for transition in transitions {
            if let outcome = try write(transition) { outcomes.append(outcome) }
        }
        try flush()
        return outcomes
    }

    private mutating func write(_ transition: PreparedTransition) throws -> SignalOutcome? {
        switch transition.step {
        case .none(let outcome): return outcome
        case .undecided: return try decide(transition)
        case .become(let next, let event, let effects):
            guard transition.confidence == transaction.confidence else { return try decide(transition) }
            try load(next.session)
            guard try transaction.updateState(from: transition.job, to: next) else { return try decide(transition) }
            if let event { events.append(NewEvent(event.type, of: next, data: event.data)) }
            try follow(transition.job, next)
            transaction.wakeJobs(for: effects)
            return .done(next, then: effects)
        }
    }

    /// Applies the signal to the job as it is stored now.
    private mutating func decide(_ transition: PreparedTransition) throws -> SignalOutcome? {
        try flush()
        if jobsAreFresh { return try transaction.transitionJob(transition.job, on: transition.signal) }
        do {
            return try transaction.transitionJob(transition.job.id, on: transition.signal)
        } catch StoreError.noSuchJob {
            return nil
        }
    }

    /// Changes the batch and the session as the end of the job, or its return to the queue, requires.
    private mutating func follow(_ before: Job, _ next: Job) throws {
        guard var session = sessions[next.session] else { return }
        if before.state.wait?.name.needsHelp ?? false { session.blockedJobs -= 1 }
        if let ending = next.state.ending { session.leaveBatch(next.batch, ending, in: transaction) }
        let isBlocked = next.state.isTerminal && session.isNewlyBlocked
        if next.state == .queued { try session.clearWaiting(in: transaction) }
        sessions[next.session] = session
        guard isBlocked else { return }
        try flush()
        try transaction.announceWaitingIfBlocked(of: next.session)
    }

    private mutating func load(_ session: Name) throws {
        if sessions[session] == nil { sessions[session] = try SharedSession(session, in: transaction) }
    }

    /// Writes what is gathered. Later jobs read their session again.
    private mutating func flush() throws {
        try transaction.append(events)
        events = []
        for session in sessions.values { try session.writeBatch(in: transaction) }
        sessions = [:]
    }
}
