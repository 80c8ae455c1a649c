import Downloads
import Formats
import Foundation
import GRDB

/// How many attempts may run at once.
public struct AdmissionLimits: Sendable {
    /// Connections that running jobs have beside their first.
    public struct Taken: Sendable {
        public var session: Name
        public var host: String
        public var count: Int

        public init(session: Name, host: String, count: Int) {
            self.session = session
            self.host = host
            self.count = count
        }
    }

    public var jobs: Int
    public var connectionsPerHost: Int
    public var taken: [Taken] = []

    public init(jobs: Int, connectionsPerHost: Int) {
        self.jobs = jobs
        self.connectionsPerHost = connectionsPerHost
    }
}

/// A job with everything an attempt goes by.
public struct AdmittedJob: Sendable {
    public var job: Job
    public var spec: ResolvedSpec
}

public struct AdmissionRound: Sendable {
    public var admitted: [AdmittedJob]
    /// When the next wait ends; nil while no job waits.
    public var nextWaitEnds: Date?
}

/// Which jobs run: first those of higher priority; among equals each session gets its share, and within a session the
/// oldest goes first, as slots, sessions and hosts allow.
extension Store {
    /// Ends the waits whose time has come and gives the free slots away.
    ///
    /// - Parameter onCommit: see `Writer`: the attempts are noted before any later change is begun.
    public func admitJobs(
        _ limits: AdmissionLimits, onCommit: @escaping @Sendable ([AdmittedJob]) -> Void
    ) async throws -> AdmissionRound {
        try await writer.write(onCommit: { onCommit($0.admitted) }) { transaction in
            try transaction.endWaits()
            let admitted = try transaction.admit(limits)
            return AdmissionRound(admitted: admitted, nextWaitEnds: try transaction.nextWaitEnds())
        }
    }
}

extension Store {
    /// The downloads folder works again: the jobs that wait for it are due now.
    public func endStorageWaits() async throws {
        try await writer.write { transaction in
            try transaction.run(
                "UPDATE jobs SET retry_at = ? WHERE retry_at IS NOT NULL AND reason = 'storage'",
                [transaction.now.milliseconds])
            transaction.wake(.jobs)
        }
    }
}

extension Transaction {
    fileprivate func endWaits() throws {
        try run(
            """
            UPDATE jobs SET held_until = NULL
            WHERE held_until <= :now AND (held_until <= :surely OR created_at >= :jump)
            """,
            namedMoments)
        // Not all of a hundred thousand at once: the writer has others to serve. Some left over are due at once again.
        let due = try rows(
            "SELECT id FROM jobs WHERE retry_at IS NOT NULL AND retry_at <= ? ORDER BY retry_at LIMIT 500",
            [now.milliseconds])
        for row in due { _ = try send(.waitEnded, to: JobID(row["id"])) }
    }

    fileprivate func nextWaitEnds() throws -> Date? {
        let next = try row(
            """
            SELECT min(at) AS at FROM (
                SELECT min(retry_at) AS at FROM jobs WHERE retry_at IS NOT NULL
                UNION ALL SELECT min(held_until) FROM jobs WHERE held_until > ? AND state = 'queued')
            """, [now.milliseconds])?.optionalTime("at")
        guard standing.doubt(at: now) > 0 else { return next }
        // Some may be held although their time has come, for as long as that is doubted.
        let look = now.addingTimeInterval(Store.longestLook)
        return min(next ?? look, look)
    }

    fileprivate func admit(_ limits: AdmissionLimits) throws -> [AdmittedJob] {
        var slots = try Slots(running: rows(Slots.running), limits: limits)
        var queue = Queue(self)
        var admitted: [AdmittedJob] = []
        var configurations: [Name: SessionConfiguration] = [:]
        while slots.free > 0 {
            guard let session = try queue.nextSession(slots) else { break }
            let configuration = try configurations[session] ?? self.configuration(of: session)
            configurations[session] = configuration
            guard let candidate = try queue.oldestJob(of: session, slots, configuration) else {
                queue.pass(over: session)
                continue
            }
            slots.take(session, host: candidate.host)
            admitted.append(try begin(candidate.job, configuration))
        }
        return admitted
    }

    private func begin(_ id: JobID, _ configuration: SessionConfiguration) throws -> AdmittedJob {
        var job = try job(id)
        let spec = ResolvedSpec(job, in: configuration)
        job.resourceTime = job.resourceTime ?? .running(until: now.addingTimeInterval(spec.resourceSeconds))
        return AdmittedJob(job: try send(.admitted, to: job).job, spec: spec)
    }
}
