import Downloads
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresEngineTests {
    private static func engine(_ url: String) throws -> PostgresEngine {
        try PostgresEngine(url: url, requiresDurability: false, node: nil)
    }

    private static func append(_ text: String, _ db: SQLConnection, _ numbers: EventNumbers) throws {
        let id = try numbers.take(1, in: db).lowerBound
        try db.run(
            "INSERT INTO events (id, type, time, session, data) VALUES (?, 'test', 0, 'default', ?)", [id, text])
    }

    private static func events(_ engine: PostgresEngine) throws -> [String] {
        try engine.read { db in
            try db.rows("SELECT id, data FROM events ORDER BY id").map { try "\($0[0] as Int) \($0[1] as String)" }
        }
    }

    @Test func serverThatMayLoseChangesIsRefused() async throws {
        let error = #expect(throws: StoreError.self) {
            try PostgresEngine(url: PostgresFixture().url, requiresDurability: true, node: nil)
        }
        guard case .serverUnsuitable(let why) = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(why.contains("fsync"))
    }

    @Test func unknownServerIsAway() async throws {
        #expect {
            try Self.engine("postgres://fetchd@127.0.0.1:1/postgres")
        } throws: { error in
            if case StoreError.databaseAway = error { true } else { false }
        }
    }

    @Test func nodesNumberTheirEventsInOneOrderWithoutGaps() async throws {
        let url = try PostgresFixture().url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in 0..<3 {
                group.addTask {
                    try await OwnThread.run {
                        let engine = try Self.engine(url)
                        for number in 0..<20 {
                            _ = try engine.commit { db, numbers in
                                try Self.append("\(node)", db, numbers)
                                if number % 3 == 0 { try Self.append("\(node)", db, numbers) }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let engine = try Self.engine(url)
        let ids = try engine.read { try $0.values("SELECT id FROM events ORDER BY id", as: Int.self) }
        #expect(ids == Array(1...81))
        #expect(try engine.read { try Store.lastEvent(in: $0) } == 81)
    }

    @Test func groupThatChangesNothingIsNoCommit() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        #expect(try !engine.commit { db, _ in _ = try db.rows("SELECT 1") })
        #expect(engine.activity.commits == 0)
        #expect(try engine.commit { db, numbers in try Self.append("a", db, numbers) })
        #expect(engine.activity.commits == 1)
    }

    /// Only nodes that write in turns leave notices for each other. A commit without one may have changed any job.
    @Test func changesOfOthersAreKnown() async throws {
        let url = try PostgresFixture().url
        let engines = [try Self.engine(url), try Self.engine(url)]
        var seen: [CommitNotice.Jobs?] = []
        for (number, turn) in [0, 0, 1, 0, 0, 1, 1].enumerated() {
            let body: (CommitGroup) throws -> Void = { group in
                seen.append(group.others?.jobs)
                try Self.append("a", group.db, group.numbers)
            }
            let notice = { CommitNotice(jobs: number == 5 ? .any : .these([JobID("job_\(number)")])) }
            _ = try engines[turn].commit(body, notice: notice)
        }
        #expect(
            seen == [nil, nil, .any, .these([JobID("job_2")]), nil, .these([JobID("job_3"), JobID("job_4")]), nil])
        var last: CommitNotice.Jobs?
        _ = try engines[0].commit { group in last = group.others?.jobs }
        #expect(last == .any)
    }

    @Test func tableThatHasGrownIsAnalyzed() async throws {
        let fixture = try PostgresFixture()
        let engine = try Self.engine(fixture.url)
        let connection = try fixture.connect()
        try connection.execute(
            script: """
                ALTER TABLE events SET (autovacuum_enabled = false);
                INSERT INTO events (id, type, time, session, data)
                    SELECT i, 'test', 0, 'default', '' FROM generate_series(1, 2000) AS i
                """)
        // The server counts the changes of a connection when it ends.
        connection.close()
        _ = try await eventually("the statistics") {
            try engine.analyze()
            let rows = try engine.read { db in
                try db.value(
                    """
                    SELECT CAST(reltuples AS bigint) FROM pg_class
                    WHERE relname = 'events' AND relnamespace = CAST(current_schema() AS regnamespace)
                    """, as: Int.self)
            }
            return rows == 2000 ? true : nil
        }
    }

    @Test func nodeAloneKeepsNoNotices() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        for _ in 0..<3 { try engine.commit { db, numbers in try Self.append("a", db, numbers) } }
        #expect(try engine.read { try $0.value("SELECT count(*) FROM commit_notices", as: Int.self) } == 0)
    }

    @Test func refusedWriteIsUndoneAndTheOthersAreKept() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        var runs = 0
        _ = try engine.commit { group in
            let (db, numbers) = (group.db, group.numbers)
            runs += 1
            for (text, isKept) in [("a", true), ("b", false), ("c", true)] {
                _ = try group.attempt(false) { (try? Self.append(text, db, numbers)) != nil && isKept }
            }
        }
        #expect(runs == 2)
        #expect(try Self.events(engine) == ["1 a", "2 c"])
    }

    @Test func refusedWriteThatHasChangedNothingCostsNothing() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        var kept: [Bool] = []
        _ = try engine.commit { group in
            let (db, numbers) = (group.db, group.numbers)
            kept.append(try group.attempt(false) { (try? db.rows("SELECT 1")) == nil })
            kept.append(try group.attempt(false) { (try? Self.append("a", db, numbers)) != nil })
        }
        #expect(kept == [false, true])
        #expect(try Self.events(engine) == ["1 a"])
    }

    @Test func faultyStatementFailsItsWriteOnly() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        var errors: [StoreError] = []
        _ = try engine.commit { group in
            let (db, numbers) = (group.db, group.numbers)
            _ = try group.attempt(false) { (try? Self.append("a", db, numbers)) != nil }
            do {
                // The statement is queued: it fails during the next write.
                _ = try group.attempt(false) {
                    (try? db.run("UPDATE sessions SET is_finishing = 7 WHERE id = 'default'")) != nil
                }
            } catch let refused as RefusedWrite {
                errors.append(refused.error)
            }
            _ = try group.attempt(false) {
                (try? db.rows("SELECT 1")) != nil && (try? Self.append("b", db, numbers)) != nil
            }
        }
        #expect(errors.count == 1 && errors.allSatisfy { if case .failed = $0 { true } else { false } })
        #expect(try Self.events(engine) == ["1 a", "2 b"])
    }

    @Test func faultBesideTheWritesFailsTheGroup() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        let failure = #expect(throws: CommitFailure.self) {
            _ = try engine.commit { db, numbers in
                try Self.append("a", db, numbers)
                _ = try db.rows("SELECT missing")
            }
        }
        #expect(failure?.isOver == true)
        #expect(try Self.events(engine) == [])
        #expect(try engine.commit { db, numbers in try Self.append("b", db, numbers) })
        #expect(try Self.events(engine) == ["1 b"])
    }

    @Test func closedEngineReadsNothing() async throws {
        let engine = try Self.engine(try PostgresFixture().url)
        #expect(try Self.events(engine) == [])
        engine.close()
        #expect(throws: PostgresError.self) { try Self.events(engine) }
    }

    @Test func restartOfTheServerIsNoticedByNoCaller() async throws {
        let server = try await PostgresServer()
        let engine = try Self.engine(server.socketURL)
        _ = try engine.commit { db, numbers in try Self.append("a", db, numbers) }
        #expect(try Self.events(engine) == ["1 a"])
        try await server.stop()
        #expect(throws: CommitFailure.self) {
            try engine.commit { db, numbers in try Self.append("lost", db, numbers) }
        }
        #expect(throws: (any Error).self) { try engine.probe() }
        try await server.start()
        try engine.probe()
        #expect(try engine.commit { db, numbers in try Self.append("b", db, numbers) })
        try await server.stop(.immediate)
        try await server.start()
        #expect(try engine.commit { db, numbers in try Self.append("c", db, numbers) })
        #expect(try Self.events(engine) == ["1 a", "2 b", "3 c"])
    }

    /// The server has committed and waits for a standby that does not exist, when its process is ended.
    @Test func commitWhoseAnswerIsLostIsFound() async throws {
        let server = try await PostgresServer()
        let engine = try Self.engine(server.socketURL)
        let administrator = try PostgresConnection(to: PostgresTarget(url: server.socketURL))
        func run(_ sql: String) throws -> PostgresResult { try administrator.execute(.init(sql, isPrepared: false)) }
        _ = try run("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        _ = try run("SELECT pg_reload_conf()")
        _ = try await eventually("the setting") {
            try run("SHOW synchronous_standby_names")[0].value(0) == "absent" ? true : nil
        }
        async let hasChanged = OwnThread.run {
            try engine.commit { db, numbers in try Self.append("a", db, numbers) }
        }
        _ = try await eventually("the commit to wait") {
            try run("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'").isEmpty ? nil : true
        }
        _ = try run("ALTER SYSTEM RESET synchronous_standby_names")
        _ = try run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        _ = try run("SELECT pg_reload_conf()")
        #expect(try await hasChanged)
        #expect(try Self.events(engine) == ["1 a"])
        #expect(engine.activity.commits == 1)
        #expect(try engine.commit { db, numbers in try Self.append("b", db, numbers) })
        #expect(try Self.events(engine) == ["1 a", "2 b"])
    }
}
