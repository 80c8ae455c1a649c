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
            let next = try transaction.row("SELECT min(retry_at) AS at FROM jobs WHERE retry_at IS NOT NULL")
            return AdmissionRound(admitted: admitted, nextWaitEnds: next?.optionalTime("at"))
        }
    }
}

extension Transaction {
    fileprivate func endWaits() throws {
        let due = try rows("SELECT id FROM jobs WHERE retry_at IS NOT NULL AND retry_at <= ?", [now.milliseconds])
        for row in due { _ = try send(.waitEnded, to: JobID(row["id"])) }
    }

    fileprivate func admit(_ limits: AdmissionLimits) throws -> [AdmittedJob] {
        var slots = try Slots(running: rows(Slots.running), limits: limits)
        var admitted: [AdmittedJob] = []
        var configurations: [Name: SessionConfiguration] = [:]
        while slots.free > 0 {
            let candidates = try slots.candidates(self)
            for candidate in candidates where slots.free > 0 {
                let session = Name(trusted: candidate["session"])
                let configuration = try configurations[session] ?? self.configuration(of: session)
                configurations[session] = configuration
                guard slots.take(session, host: candidate["host"], configuration) else { continue }
                let job = try send(.admitted, to: JobID(candidate["id"])).job
                admitted.append(AdmittedJob(job: job, spec: ResolvedSpec(job.spec, in: configuration)))
            }
            // Each round takes a job or learns of a limit that is reached; without candidates there is nothing left.
            if candidates.isEmpty { break }
        }
        return admitted
    }
}

/// What is taken of each limit, and what is known to be full.
private struct Slots {
    static let running = "SELECT session, host, count(*) AS n FROM jobs WHERE state = 'running' GROUP BY session, host"

    private let limits: AdmissionLimits
    private(set) var free: Int
    private var bySession: [Name: Int] = [:]
    private var byHost: [String: Int] = [:]
    private var bySessionAndHost: [String: Int] = [:]
    private var fullSessions: Set<String> = []
    private var fullHosts: Set<String> = []
    private var fullPairs: Set<String> = []

    init(running: [Row], limits: AdmissionLimits) {
        self.limits = limits
        free = limits.jobs
        for row in running { note(Name(trusted: row["session"]), row["host"], count: row["n"]) }
    }

    /// The first queued jobs behind no limit that is known to be reached, as many as there are slots. The queue's index
    /// holds all that is asked for: jobs behind a full host are passed over without being read.
    func candidates(_ transaction: Transaction) throws -> [Row] {
        func list(_ names: Set<String>) -> String { JSON.strings(names.sorted()).written }
        return try transaction.rows(
            """
            SELECT id, session, host FROM jobs WHERE state = 'queued'
                AND host NOT IN (SELECT value FROM json_each(?))
                AND session NOT IN (SELECT value FROM json_each(?))
                AND session || ' ' || host NOT IN (SELECT value FROM json_each(?))
            ORDER BY priority, id LIMIT ?
            """, [list(fullHosts), list(fullSessions), list(fullPairs), free])
    }

    /// false: some limit is reached, and is known to be from now on.
    mutating func take(_ session: Name, host: String, _ configuration: SessionConfiguration) -> Bool {
        let pair = "\(session) \(host)"
        if byHost[host, default: 0] >= limits.connectionsPerHost { fullHosts.insert(host) }
        if bySession[session, default: 0] >= configuration.maxConcurrentJobs ?? .max {
            fullSessions.insert(session.text)
        }
        if bySessionAndHost[pair, default: 0] >= configuration.maxConnectionsPerHost ?? .max { fullPairs.insert(pair) }
        guard !fullHosts.contains(host), !fullSessions.contains(session.text), !fullPairs.contains(pair) else {
            return false
        }
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
