import Downloads
import Foundation
import GRDB
import PostgresClient
import Sealing
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres
@testable import StorageSQLite

/// The database of a stopped service is taken to PostgreSQL with all that it has, or not at all.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct StoreMigrationTests {
    private let folder: TemporaryFolder
    private let target: PostgresFixture

    /// A data folder with rows in every table, and numbers above those of the rows.
    init() async throws {
        (folder, target) = (try TemporaryFolder(), try PostgresFixture())
        try await SchemaFixtureData(in: folder).write()
        let database = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO throughput (minute, bytes) VALUES (1, 2);
                    INSERT INTO service_settings (name, value, changed_at) VALUES ('rate_limit_bytes_per_second', '5', 6);
                    INSERT OR REPLACE INTO token_bytes (token, day, bytes) VALUES ('tok_1', 3, 4);
                    INSERT INTO clock_jumps (last_event, at, by) VALUES (1, 2, -3);
                    INSERT INTO given_batches (session, number) VALUES ('gone', 9);
                    INSERT OR REPLACE INTO removed_events (session, last_event) VALUES ('gone', 1);
                    INSERT OR REPLACE INTO clock (id, time, uptime, boot, last_event) VALUES (1, 2, 3, NULL, 4);
                    INSERT INTO imports (id, caller, key, fingerprint, position, created, is_running, created_at)
                        VALUES ('imp_1', 'me', 'k', x'01', 3, 2, 0, 5);
                    INSERT INTO import_batches (import, session, batch) VALUES ('imp_1', 'default', 1);
                    INSERT INTO consumers (name, session, sessions, events, acknowledged_through, created_at)
                        VALUES ('index', NULL, '["a*"]', 'job.*', 1, 5);
                    INSERT INTO webhook_keys (id, public_key, private_key, created_at, expires_at)
                        VALUES ('whk_1', 'whpk_A', 'x', 5, 6);
                    INSERT INTO locations (name, folder, opened_at) VALUES ('films', '/mnt/films', 7);
                    INSERT INTO uploads (job, location, object_key, part, upload_id, part_size, begun_at, mark, released,
                            digest_states)
                        VALUES ('job_1', 'archive', 'a/b', 'part_1', 'u', 8388608, 7, 'm', 8388608, '{"md5":"AQ=="}');
                    INSERT INTO upload_parts (job, number, etag, sha256)
                        VALUES ('job_1', 1, '"e"', '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');
                    INSERT INTO consumer_acknowledgements (consumer, event) VALUES ('index', 3);
                    UPDATE delivery_attempts SET error = 'Grüße ' || char(0) || ' {"a", \\N}', latency_seconds = 1.0 / 3;
                    UPDATE sqlite_sequence SET seq = seq + 100;
                    """)
        }
        try database.close()
    }

    @discardableResult
    private func migrate(_ key: KeySource = .dataFolder) throws -> MigrationReport {
        try StoreMigration.run(
            from: .sqlite(inDataFolder: folder.path, key: key), to: target.url, acceptsUnsafeServer: true)
    }

    /// All rows of each table.
    private func stored() throws -> [String: Set<CopiedTable.Values>] {
        let connection = try target.connect()
        var rows: [String: Set<CopiedTable.Values>] = [:]
        for table in tables {
            rows[table.name] = Set(try connection.execute(.init(table.selection)).map { try table.values($0) })
        }
        return rows
    }

    private let tables = Schema.tables.filter { !$0.isOfPostgres }.map { CopiedTable($0, lastNumber: nil) }

    private func onSQLite<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Connections.read(folder.path("fetchd.sqlite")) { try body($0.sqlite) }
    }

    private func openTarget() throws -> Store {
        var options = Store.Options()
        (options.server, options.acceptsUnsafeServer) = (.postgres(target.url), true)
        return try Store(at: folder.path, options: options, time: SchemaFixture.time)
    }

    @Test func copiesEveryRowOfEveryTable() throws {
        let report = try migrate()
        let stored = try stored()
        #expect(report.tables.map(\.name) == tables.map(\.name))
        for (table, reported) in zip(tables, report.tables) {
            let rows = try onSQLite { db in
                try SQLConnection(db).rows(table.selection).map { row in
                    var values = try table.columnNames.indices.map { try row.scalar(at: $0).storable }
                    // The first node of the database.
                    if table.name == "jobs", ["running", "succeeded"].contains(try row["state"] as String) {
                        values[try #require(table.columnNames.firstIndex(of: "node"))] = .integer(1)
                    }
                    return values
                }
            }
            #expect(!rows.isEmpty, "a test of the table \(table.name) needs rows")
            #expect(stored[table.name] == Set(rows), "\(table.name)")
            #expect(reported.rows == rows.count && reported.comparedRows == rows.count, "\(reported)")
        }
    }

    @Test func theStoreContinuesWithItsJobsSecretsAndNumbers() async throws {
        let report = try migrate()
        #expect(report.lastEvent == (try onSQLite { try Store.lastEvent(in: SQLConnection($0)) }))
        let store = try openTarget()
        #expect(store.node?.number == 1)
        #expect(try await store.lastEvent() == report.lastEvent)
        let jobs = try await store.jobs(JobQuery(limit: 1000)).jobs
        #expect(Set(jobs.map(\.state.name)) == Set(JobState.Kind.allCases))
        #expect(jobs.allSatisfy { $0.spec.lost.isEmpty && $0.spec.url.hasPrefix("https://h") })
        let webhook = try await store.webhook(Name(trusted: "hook"), of: .default)
        #expect(webhook.url.hasSuffix("?key=fixture-hook") && webhook.lost.isEmpty)
        #expect(try await store.compareCounts().drifts.isEmpty)
        _ = try await store.recoverInterrupted()
        let new = try await store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://h/new"))])[0]
        #expect(jobs.allSatisfy { new.id.text > $0.id.text })
        let events = try await store.events(EventQuery(after: report.lastEvent, limit: 1000)).events
        #expect(events.first?.id == report.lastEvent + 1)
        try await store.close()
        // A deleted row's number is not given again.
        for table in ["webhooks", "audit", "clock_jumps"] {
            let last = try onSQLite { db in
                try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = '\(table)'") ?? 0
            }
            let column = try #require(["webhooks": "key", "audit": "id", "clock_jumps": "number"][table])
            let next = try target.connect().execute(
                .init("SELECT nextval(pg_get_serial_sequence('\(table)', '\(column)'))"))
            #expect(try next[0].value(0, as: Int64.self) > last, "\(table)")
        }
    }

    @Test func rowsOfManyBatchesAreCopiedAndSomeCompared() throws {
        let database = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try database.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                    INSERT INTO events (type, time, session, data) SELECT 'job.created', i, 'default', '{}' FROM n
                    """)
        }
        try database.close()
        let events = try #require(try migrate().tables.first { $0.name == "events" })
        #expect(events.rows > 5000 && (500...1000).contains(events.comparedRows), "\(events)")
        #expect(try stored()["events"]?.count == events.rows)
    }

    // MARK: Refusals

    private func refusal(_ key: KeySource = .dataFolder) throws -> StoreError {
        try #require(#expect(throws: StoreError.self) { try migrate(key) })
    }

    /// PostgreSQL has no tables.
    private func expectNothing() throws {
        let tables = try target.connect().execute(
            .init("SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"))
        #expect(tables.isEmpty)
    }

    @Test func refusesWhileTheServiceRuns() throws {
        let store = try Store(at: folder.path, time: SchemaFixture.time)
        #expect(try refusal() == .folderInUse(path: folder.path))
        try expectNothing()
        withExtendedLifetime(store) {}
    }

    @Test func refusesAFolderWithoutADatabaseAndDoesNotCreateIt() throws {
        #expect(
            throws: StoreError.databaseUnreadable(path: folder.path("none/fetchd.sqlite"), why: "it does not exist")
        ) {
            try StoreMigration.run(
                from: .sqlite(inDataFolder: folder.path("none"), key: .dataFolder), to: target.url,
                acceptsUnsafeServer: true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    @Test func refusesADatabaseWithDataAndChangesNothing() async throws {
        try migrate()
        let before = try stored()
        let why = try refusal().description
        #expect(why.contains("has data already, in the table "), "\(why)")
        #expect(try stored() == before)
    }

    @Test func refusesADatabaseThatHasHadEvents() async throws {
        try PostgresSchema.migrate(try target.connect(), name: "test")
        try target.connect().execute(.init("UPDATE journal SET last = 7"))
        let why = try refusal().description
        #expect(why.contains("has had events"), "\(why)")
    }

    /// The migrated service is not node 1, but it has its parts and files.
    @Test func takesADatabaseThatAnotherServiceHasOnlyStartedWith() async throws {
        try await openOther().close()
        try migrate()
        let store = try openTarget()
        #expect(store.node?.number != 1 && store.firstNode == store.node?.number)
        let succeeded = try await store.jobs(JobQuery(state: .succeeded, limit: 1000)).jobs
        #expect(!succeeded.isEmpty && succeeded.allSatisfy { $0.node == store.node?.number })
        try await store.close()
    }

    @Test func takesADatabaseThatAServiceHasOnlyStartedWith() async throws {
        try await openTarget().close()
        #expect(try migrate().tables.contains { $0.name == "jobs" && $0.rows > 0 })
    }

    @Test func refusesADatabaseThatWasStartedWithAnotherKey() async throws {
        let other = try TemporaryFolder()
        var options = Store.Options()
        (options.server, options.acceptsUnsafeServer) = (.postgres(target.url), true)
        try await Store(at: other.path, options: options).close()
        let why = try refusal().description
        #expect(why.contains("has been used with another key"), "\(why)")
    }

    @Test func refusesADatabaseThatAServiceUses() async throws {
        let store = try openOther()
        let why = try refusal().description
        #expect(why.contains("is used by another fetchd"), "\(why)")
        try await store.close()
    }

    /// A service with another data folder and the same key.
    private func openOther() throws -> Store {
        let other = try TemporaryFolder()
        var options = Store.Options()
        (options.server, options.acceptsUnsafeServer) = (.postgres(target.url), true)
        options.key = .file(folder.path("fetchd.key"))
        return try Store(at: other.path, options: options)
    }

    @Test func refusesAnotherKeyAndALostOne() throws {
        let key = try folder.write(Data((0..<32).map { UInt8($0) }).base64EncodedString(), to: "other.key")
        chmod(key, 0o600)
        #expect(try refusal(.file(key)) == .keyWrong(source: "the key file \(key)", path: folder.path("fetchd.sqlite")))
        try FileManager.default.removeItem(atPath: folder.path("fetchd.key"))
        let why = try refusal().description
        #expect(why.contains("is missing"), "\(why)")
        try expectNothing()
    }

    @Test func refusesAnEarlierSchemaAndUnsealedSecrets() throws {
        let database = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try database.write { try $0.execute(sql: "UPDATE sealing SET step = 'vacuum'") }
        let unsealed = try refusal().description
        #expect(unsealed.contains("copies of secrets that a former key opens"), "\(unsealed)")
        let last = Schema.migrator.migrations.last ?? ""
        try database.write {
            try $0.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: [last])
        }
        try database.close()
        let earlier = try refusal().description
        #expect(earlier.contains("it is of an earlier version"), "\(earlier)")
        try expectNothing()
    }

    // MARK: Failures

    /// What goes wrong in a table of PostgreSQL while the rows arrive.
    private func spoil(_ statements: String) throws {
        let connection = try target.connect()
        try PostgresSchema.migrate(connection, name: "test")
        try connection.execute(script: statements)
    }

    private func expectUnchanged() throws {
        let stored = try stored()
        #expect(stored["sessions"]?.count == 1 && stored["jobs"] == [] && stored["events"] == [])
        #expect(
            try target.connect().execute(.init("SELECT last, commits FROM journal"))[0].value(0, as: Int64.self) == 0)
    }

    @Test func aRejectedRowLeavesNothing() throws {
        try spoil("ALTER TABLE tokens ADD CHECK (name IS NULL)")
        let why = try refusal().description
        #expect(why.contains("violates check constraint"), "\(why)")
        try expectUnchanged()
    }

    @Test(arguments: ["NEW.bytes_durable = 0; RETURN NEW;", "RETURN NULL;"])
    func aDifferenceIsNoticedAndLeavesNothing(_ body: String) throws {
        try spoil(
            """
            CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN \(body) END';
            CREATE TRIGGER spoil BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION spoil();
            """)
        let why = try refusal().description
        #expect(why.contains("the table parts of "), "\(why)")
        try expectUnchanged()
    }

    /// A row that was not compared is missing.
    @Test func aMissingRowIsNoticedByTheNumberOfRows() throws {
        try spoil(
            """
            CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN INSERT INTO throughput (minute, bytes) VALUES (NEW.minute + 1, 1); RETURN NEW; END';
            CREATE TRIGGER spoil BEFORE INSERT ON throughput FOR EACH ROW WHEN (NEW.minute = 1)
                EXECUTE FUNCTION spoil();
            """)
        let why = try refusal().description
        #expect(why.contains("has 2 rows after 1 were copied into it"), "\(why)")
        try expectUnchanged()
    }
}
