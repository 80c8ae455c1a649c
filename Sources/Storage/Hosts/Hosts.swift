import Downloads
import Foundation

/// What outlives a restart of the gate of a host (`HostGate`).
public struct StoredHost: Sendable, Equatable {
    /// `host:port`, as in the URLs of jobs.
    public var host: String
    public var closedUntil: Date?
    public var reason: HostGate.Reason?
    /// Of the response that closed the gate.
    public var status: Int?
    public var closuresInARow: Int
    public var learned: Learned?
    /// When the host closed its gate last, or a client opened it.
    public var changedAt: Date

    /// A learned rate at a time; see `LearnedRate`.
    public struct Learned: Sendable, Equatable {
        public var base: Double
        public var since: Date
        public var ceiling: Double?
        public var repeated: Int

        public init(base: Double, since: Date, ceiling: Double?, repeated: Int) {
            self.base = base
            self.since = since
            self.ceiling = ceiling
            self.repeated = repeated
        }
    }

    public init(
        host: String, closedUntil: Date?, reason: HostGate.Reason?, status: Int?, closuresInARow: Int,
        learned: Learned?, changedAt: Date
    ) {
        self.host = host
        self.closedUntil = closedUntil
        self.reason = reason
        self.status = status
        self.closuresInARow = closuresInARow
        self.learned = learned
        self.changedAt = changedAt
    }
}

extension Schema {
    /// The gates that hosts have closed, or whose rate fetchd has learned. `changed_at` is not moved by a jump of the clock: it only
    /// says which rows are old.
    static let hosts = Table(
        name: "hosts",
        columns: [
            .text("host", "NOT NULL PRIMARY KEY"), .moved("closed_until", by: .where("closed_until IS NOT NULL")),
            .text("reason"), .integer("status"), .count("closures_in_a_row"), Column("learned_rate", .real),
            .moved("learned_at", by: .where("learned_at IS NOT NULL")), Column("learned_ceiling", .real),
            .integer("learned_repeated"), .integer("changed_at", "NOT NULL"),
        ],
        indexes: [Index("hosts_by_change", "changed_at")], since: 22, isOrderedByKey: true)
}

extension Store {
    /// - Parameter since: only hosts that have changed at this time or later.
    public func hosts(changedSince since: Date = Date(timeIntervalSince1970: 0)) async throws(StoreError)
        -> [StoredHost]
    {
        try await read { db in
            try db.rows(
                "SELECT * FROM hosts WHERE changed_at >= ? ORDER BY changed_at", [since.milliseconds]
            ).map(HostRow.host)
        }
    }

    /// Stores a host that a client has opened. The waits of the jobs that it has refused end.
    public func openHost(_ host: StoredHost, audit note: AuditNote?) async throws {
        try await writer.write { transaction in
            try transaction.save(host)
            try transaction.audit(note, target: host.host)
            let now = transaction.now.milliseconds
            for row in try transaction.rows(Self.endRefusedWaits, ["now": now, "host": host.host]) {
                transaction.forget(try JobID(row["id"]))
            }
            transaction.wake(.hosts)
            transaction.wake(.jobs)
        }
    }

    /// The limit keeps the transaction short. The others come at the time that the server has named.
    static let endRefusedWaits = """
        UPDATE jobs SET retry_at = :now WHERE id IN (
            SELECT id FROM jobs WHERE retry_at > :now AND host = :host AND reason = 'retry' AND times_held_off > 0
            ORDER BY retry_at LIMIT 500)
        RETURNING id
        """

    /// Stores hosts that have closed their gates, and removes those that have not changed for two days: no gate is closed for longer
    /// than one.
    public func saveHosts(_ hosts: [StoredHost]) async throws {
        try await writer.write { transaction in
            for host in hosts { try transaction.save(host) }
            let old = transaction.now.addingTimeInterval(-172_800)
            try transaction.run("DELETE FROM hosts WHERE changed_at < ?", [old.milliseconds])
            try transaction.dropOldStarts()
            transaction.wake(.hosts)
        }
    }

    /// The hosts of jobs of the session that wait or are paused, a thousand at most.
    public func hostsToResume(in session: Name) async throws(StoreError) -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT DISTINCT host FROM jobs
                WHERE session = ? AND state IN ('waiting', 'paused') AND state <> 'running' LIMIT 1000
                """, [session.text]
            ).map { try $0["host"] }
        }
    }

    /// The running and queued jobs of each host.
    ///
    /// - Parameter visible: the sessions that the caller may see.
    public func jobsByHost(visible: VisibleSessions = .all) async throws(StoreError) -> [String: HostLoad] {
        var conditions = SQLConditions("1 = 1")
        conditions.add(visible, on: "session")
        let sql = Self.jobsByHost(where: conditions.sql)
        let arguments = Self.hostParts.reduce(into: [] as SQLArguments) { all, _ in all += conditions.arguments }
        return try await read { db in
            try db.rows(sql, arguments).reduce(into: [:]) { loads, row in
                loads[try row["host"], default: HostLoad()].add(try row["n"], isRunning: try row["is_running"])
            }
        }
    }

    static func jobsByHost(where condition: String) -> String {
        hostParts.map { part in
            let isRunning = part == running ? 1 : 0
            return """
                SELECT host, \(isRunning) AS is_running, count(*) AS n FROM jobs WHERE \(part) AND \(condition) GROUP BY host
                """
        }.joined(separator: "\nUNION ALL ")
    }

    private static let running = "state = 'running'"

    /// Each part is the condition of an index of the running jobs or of the queue, and reads no job that has ended.
    private static let hostParts =
        [running] + QueueLane.allCases.map(\.condition) + ["state = 'queued' AND held_until IS NOT NULL"]
}

public struct HostLoad: Sendable, Equatable {
    public var running = 0
    public var queued = 0

    public init() {}

    mutating func add(_ count: Int, isRunning: Bool) {
        if isRunning { running += count } else { queued += count }
    }
}

extension Transaction {
    fileprivate func save(_ host: StoredHost) throws {
        try run(
            """
            INSERT INTO hosts (host, closed_until, reason, status, closures_in_a_row, learned_rate, learned_at, learned_ceiling,
                learned_repeated, changed_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (host) DO UPDATE SET closed_until = ?2, reason = ?3, status = ?4, closures_in_a_row = ?5,
                learned_rate = ?6, learned_at = ?7, learned_ceiling = ?8, learned_repeated = ?9, changed_at = ?10
            """,
            [
                host.host, host.closedUntil?.milliseconds, host.reason?.rawValue, host.status, host.closuresInARow,
                host.learned?.base, host.learned?.since.milliseconds, host.learned?.ceiling, host.learned?.repeated,
                host.changedAt.milliseconds,
            ])
    }
}

private enum HostRow {
    static func host(_ row: SQLRow) throws -> StoredHost {
        var learned: StoredHost.Learned?
        if let base: Double = try row["learned_rate"], let since = try row.optionalTime("learned_at") {
            learned = .init(
                base: base, since: since, ceiling: try row["learned_ceiling"],
                repeated: try row["learned_repeated"] ?? 0)
        }
        return try StoredHost(
            host: row["host"], closedUntil: row.optionalTime("closed_until"),
            reason: (row["reason"] as String?).flatMap(HostGate.Reason.init), status: row["status"],
            closuresInARow: row["closures_in_a_row"], learned: learned, changedAt: row.time("changed_at"))
    }
}
