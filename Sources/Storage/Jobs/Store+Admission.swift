import Downloads
import Foundation
import GRDB

/// How many attempts may run at once.
public struct AdmissionLimits: Sendable {
    public var jobs: Int
    public var connectionsPerHost: Int

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

/// Which jobs run: first those of higher priority, then in the order of creation, as slots, sessions and hosts allow.
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
            let next = try transaction.row("SELECT min(retry_at) AS at FROM jobs WHERE state = 'waiting'")
            return AdmissionRound(admitted: admitted, nextWaitEnds: next?.optionalTime("at"))
        }
    }
}

extension Transaction {
    fileprivate func endWaits() throws {
        let due = try rows("SELECT id FROM jobs WHERE state = 'waiting' AND retry_at <= ?", [now.milliseconds])
        for row in due { _ = try send(.waitEnded, to: JobID(row["id"])) }
    }

    fileprivate func admit(_ limits: AdmissionLimits) throws -> [AdmittedJob] {
        var slots = try Slots(running: rows(Slots.select), limits: limits)
        let queue = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT id, session, host FROM jobs WHERE state = 'queued' ORDER BY priority, id"))
        var chosen: [JobID] = []
        var configurations: [Name: SessionConfiguration] = [:]
        while !slots.areTaken, let row = try queue.next() {
            let session = Name(trusted: row["session"])
            let configuration = try configurations[session] ?? self.configuration(of: session)
            configurations[session] = configuration
            if slots.take(session, host: row["host"], configuration) { chosen.append(JobID(row["id"])) }
        }
        return try chosen.map { id in
            let job = try send(.admitted, to: id).job
            return AdmittedJob(
                job: job, spec: ResolvedSpec(job.spec, in: configurations[job.session] ?? SessionConfiguration()))
        }
    }
}

/// What is taken of each limit.
private struct Slots {
    static let select = "SELECT session, host, count(*) AS n FROM jobs WHERE state = 'running' GROUP BY session, host"

    private let limits: AdmissionLimits
    private var free: Int
    private var bySession: [Name: Int] = [:]
    private var byHost: [String: Int] = [:]
    private var bySessionAndHost: [String: Int] = [:]

    init(running: [Row], limits: AdmissionLimits) {
        self.limits = limits
        free = limits.jobs
        for row in running { note(Name(trusted: row["session"]), row["host"], count: row["n"]) }
    }

    var areTaken: Bool { free <= 0 }

    mutating func take(_ session: Name, host: String, _ configuration: SessionConfiguration) -> Bool {
        guard byHost[host, default: 0] < limits.connectionsPerHost,
            bySession[session, default: 0] < configuration.maxConcurrentJobs ?? .max,
            bySessionAndHost["\(session) \(host)", default: 0] < configuration.maxConnectionsPerHost ?? .max
        else { return false }
        note(session, host, count: 1)
        return true
    }

    private mutating func note(_ session: Name, _ host: String, count: Int) {
        free -= count
        bySession[session, default: 0] += count
        byHost[host, default: 0] += count
        bySessionAndHost["\(session) \(host)", default: 0] += count
    }
}
