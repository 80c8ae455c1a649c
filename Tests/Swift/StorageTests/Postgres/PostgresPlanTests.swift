import Foundation
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

/// The server keeps the plans of statements. They were made for an empty table, and must be good for a large one.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresPlanTests {
    /// A statement that the scheduler executes for each admission, and the indexes that it may use.
    private struct Planned {
        let name: String
        let sql: String
        let indexes: Set<String>
    }

    private static let statements: [Planned] = {
        let (age, host) = ("jobs_queue_by_age", "jobs_queue_by_host")
        let (rank, movedHost) = ("jobs_moved_by_rank", "jobs_moved_by_host")
        let (part, job) = ("parts_job_key", "jobs_pkey")
        // It also has the moved jobs that have ended. They are few.
        let moved = "jobs_moved"
        return [
            .init(
                name: "sessions", sql: AdmissionQueue.sessionsWaiting, indexes: [age, host, rank, movedHost]),
            .init(name: "first", sql: AdmissionQueue.first(in: .unmoved, without: 0), indexes: [age]),
            .init(name: "first_moved", sql: AdmissionQueue.first(in: .moved, without: 0), indexes: [rank]),
            .init(
                name: "first_of_others",
                sql: AdmissionQueue.first(in: .unmoved, without: 1, leavingTo: [2, 3]), indexes: [age, part]),
            .init(
                name: "hosts", sql: AdmissionQueue.firstOfHosts(in: .unmoved, without: 1, leavingTo: [2]),
                indexes: [host, part]),
            .init(
                name: "hosts_moved", sql: AdmissionQueue.firstOfHosts(in: .moved, without: 0),
                indexes: [movedHost, job]),
            .init(name: "counts", sql: QueuePositions.counts(in: .unmoved, 2), indexes: [age]),
            .init(name: "counts_moved", sql: QueuePositions.counts(in: .moved, 1), indexes: [rank, moved]),
            .init(name: "ranks", sql: QueueSamples.ranks(in: .unmoved), indexes: [age]),
            .init(name: "ranks_moved", sql: QueueSamples.ranks(in: .moved), indexes: [rank, moved]),
            .init(name: "running", sql: AdmissionSlots.runningOnNodes, indexes: ["jobs_running"]),
            .init(name: "release", sql: Transaction.releaseHeld, indexes: ["jobs_scheduled", job]),
            .init(name: "waits", sql: Transaction.endedWaits, indexes: ["jobs_waiting", job, part]),
            .init(name: "next", sql: Store.nextWait, indexes: ["jobs_waiting", "jobs_scheduled"]),
            .init(name: "job", sql: JobRow.select + "WHERE jobs.id = :job", indexes: [job, part]),
            .init(name: "oldest", sql: Store.oldestQueued, indexes: [age, rank, movedHost, job]),
        ]
    }()

    /// Of the arguments, by their names; those without a name are numbers.
    private static let values = [
        "priority": "1", "session": "'default'", "token0": "'tok_1'", "now": "1000", "surely": "1000",
        "jump": "1000", "limit": "500", "job": "'job_1'", "from0": "'job_1'", "to0": "'job_1'", "from1": "'job_1'",
        "to1": "'job_1'",
    ]

    /// The sizes of the table, one after the other. `FETCHD_PLAN_ROWS` adds one.
    private static let sizes =
        [0, 10_000] + (ProcessInfo.processInfo.environment["FETCHD_PLAN_ROWS"].flatMap { Int($0) }.map { [$0] } ?? [])

    /// The pages that a statement may read: a few of each index, and those of the rows that it returns.
    private static let mostPages = 300

    @Test func plansOfAnEmptyTableAreGoodForALargeOne() throws {
        let fixture = try PostgresFixture()
        var options = PostgresConnection.Options()
        options.plansForIndexes()
        options.settings["plan_cache_mode"] = "force_generic_plan"
        let connection = try PostgresConnection(to: PostgresTarget(url: fixture.url), options: options)
        try PostgresSchema.migrate(connection, name: "test")
        try connection.execute(
            script: """
                INSERT INTO batches (session, number, state, outstanding, succeeded, failed, cancelled)
                    VALUES ('default', 1, 'open', 1, 0, 0, 0)
                """)
        for statement in Self.statements {
            let sql = PostgresDialect.translate(statement.sql).sql
            try connection.execute(PostgresStatement("PREPARE \(statement.name) AS \(sql)", isPrepared: false))
        }
        var rows = 0
        for size in Self.sizes {
            try Self.fill(connection, from: rows, to: size)
            rows = size
            for statement in Self.statements { try Self.check(statement, size, "kept", connection) }
            guard size > 0 else { continue }
            // The server makes new plans then.
            try connection.execute(script: "ANALYZE jobs; ANALYZE parts")
            for statement in Self.statements { try Self.check(statement, size, "new", connection) }
        }
    }

    /// A quarter each: finished jobs, held ones, waiting ones, and queued ones, which are the newest. A part for every job that waits.
    private static func fill(_ connection: PostgresConnection, from first: Int, to last: Int) throws {
        guard last > first else { return }
        let (quarter, far) = ((last - first) / 4, 4_000_000_000_000)
        let columns = [
            "'job_' || lpad(i::text, 26, '0')", "'default'", "1",
            "CASE k WHEN 0 THEN 'cancelled' WHEN 1 THEN 'queued' WHEN 2 THEN 'waiting' ELSE 'queued' END", "1",
            "'{}'", "1", "'host' || i % 3", "i", "CASE k WHEN 0 THEN i END", "CASE k WHEN 1 THEN \(far) END",
            "CASE k WHEN 2 THEN 'retry' END", "CASE k WHEN 2 THEN \(far) END", "CASE k WHEN 2 THEN '{}' END",
        ]
        try connection.execute(
            script: """
                INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, created_at, finished_at,
                    held_until, reason, retry_at, failure)
                SELECT \(columns.joined(separator: ", "))
                FROM (SELECT i, (i - \(first)) / \(quarter + 1) AS k FROM generate_series(\(first), \(last - 1)) AS i) AS numbers;
                INSERT INTO parts (id, job, url, last_modified_is_strong, is_encoded, bytes_durable)
                SELECT 'part_' || id || '-2.1', id, '', 0, 0, 0 FROM jobs WHERE reason = 'retry'
                ON CONFLICT DO NOTHING
                """)
    }

    private static func check(
        _ statement: Planned, _ size: Int, _ age: String, _ connection: PostgresConnection
    ) throws {
        let parameters = PostgresDialect.translate(statement.sql).parameters.map { parameter in
            switch parameter {
            case .name(let name): values[name] ?? "1"
            case .position: "1000"
            }
        }
        let call = parameters.isEmpty ? "" : "(\(parameters.joined(separator: ", ")))"
        let plan = try connection.execute(
            PostgresStatement(
                "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE \(statement.name)\(call)", isPrepared: false)
        ).map { try $0.value(0, as: String.self) }
        let text = "\(statement.name), \(age) plan, \(size) rows:\n" + plan.joined(separator: "\n")
        let used = plan.flatMap { $0.matches(of: /using (\w+) on (?:jobs|parts)/).map { String($0.1) } }
        #expect(!used.isEmpty && Set(used).isSubset(of: statement.indexes), "\(text)")
        #expect(!plan.contains { $0.contains("Seq Scan on jobs") || $0.contains("Seq Scan on parts") }, "\(text)")
        let buffers = plan.first { $0.contains("Buffers: shared") } ?? ""
        let pages = buffers.matches(of: /(?:hit|read)=(\d+)/).compactMap { Int($0.1) }.reduce(0, +)
        #expect(pages <= Self.mostPages, "\(text)")
    }
}
