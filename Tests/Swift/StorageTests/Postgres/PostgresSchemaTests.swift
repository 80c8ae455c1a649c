import Formats
import Foundation
import GRDB
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres
@testable import StorageSQLite

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresSchemaTests {
    /// Tables that only one of the engines needs.
    private static let ofPostgres: Set = [
        "schema_versions", "journal", "nodes", "last_commits", "node_commands", "additional_connections",
        "node_progress",
        "file_deletions", "webhook_leases", "commit_notices", "journal_gaps", "host_starts",
    ]
    private static let ofSQLite: Set = ["grdb_migrations", "sqlite_sequence"]

    private func migrated() throws -> PostgresConnection {
        let connection = try PostgresFixture().connect()
        try PostgresSchema.migrate(connection, name: "test")
        return connection
    }

    /// A column: its type as SQLite calls it, whether it can be NULL, and whether it has a default.
    private struct Column: Hashable, CustomStringConvertible {
        var table, name, type: String
        var isOptional, hasDefault: Bool

        var description: String { "\(table).\(name) \(type) \(isOptional) \(hasDefault)" }
    }

    @Test func columnsAreThoseOfSQLite() async throws {
        let connection = try migrated()
        let rows = try connection.execute(
            .init(
                """
                SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES', column_default IS NOT NULL
                FROM information_schema.columns WHERE table_schema = current_schema()
                """))
        let types = ["bigint": "INTEGER", "text": "TEXT", "double precision": "REAL", "bytea": "BLOB"]
        let columns = try rows.map { row in
            let type = try row.value(2, as: String.self)
            return Column(
                table: try row.value(0), name: try row.value(1), type: types[type] ?? type,
                isOptional: try row.value(3), hasDefault: try row.value(4))
        }
        let expected = try await Self.sqlite().read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT t.name, c.name, c.type, c."notnull" = 0, c.dflt_value IS NOT NULL
                    FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'
                    """
            ).map { Column(table: $0[0], name: $0[1], type: $0[2], isOptional: $0[3], hasDefault: $0[4]) }
        }
        let own = Set(columns.filter { !Self.ofPostgres.contains($0.table) })
        #expect(own.symmetricDifference(expected.filter { !Self.ofSQLite.contains($0.table) }) == [])
    }

    @Test func indexesAreThoseOfSQLite() async throws {
        let connection = try migrated()
        let names = try connection.execute(
            .init(
                """
                SELECT indexname::text FROM pg_indexes WHERE schemaname = current_schema()
                    AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE '%_key'
                """)
        ).map { try $0.value(0, as: String.self) }
        let expected = try await Self.sqlite().read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        }
        #expect(Set(names).symmetricDifference(expected) == [])
    }

    /// The text of a CHECK differs between the engines, so their number must do.
    @Test func tablesHaveAsManyConditionsAsInSQLite() async throws {
        let connection = try migrated()
        let rows = try connection.execute(
            .init(
                """
                SELECT relname::text, count(*) FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
                WHERE contype = 'c' AND connamespace = current_schema()::regnamespace GROUP BY relname
                """))
        var counts: [String: Int] = [:]
        for row in rows { counts[try row.value(0)] = try row.value(1, as: Int.self) }
        let tables = try Self.sqlite().read { db in
            try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%CHECK%'")
        }
        for table in tables {
            let text: String = table["sql"]
            #expect(
                counts[table["name"]] == text.components(separatedBy: "CHECK").count - 1, "\(table["name"] as String)")
        }
    }

    @Test func textsAreComparedByBytes() async throws {
        let others = try migrated().execute(
            .init(
                """
                SELECT table_name::text, column_name::text FROM information_schema.columns
                WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
                """))
        #expect(others.isEmpty)
    }

    @Test func secondStartChangesNothing() async throws {
        let connection = try migrated()
        let identity: String = try connection.execute(.init("SELECT identity FROM history"))[0].value(0)
        try PostgresSchema.migrate(connection, name: "test")
        let rows = try connection.execute(.init("SELECT identity, began_at FROM history"))
        #expect(rows.count == 1)
        #expect(try rows[0].value(0) == identity && identity.count == 20)
        #expect(try abs(rows[0].value(1, as: Int64.self) - Date().milliseconds) < 600_000)
    }

    @Test func nodesThatStartTogetherMakeOneSetOfTables() async throws {
        let fixture = try PostgresFixture()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await OwnThread.run {
                        try PostgresSchema.migrate(try fixture.connect(), name: "test")
                    }
                }
            }
            try await group.waitForAll()
        }
        let rows = try fixture.connect().execute(.init("SELECT version FROM schema_versions"))
        #expect(try rows.map { try $0.value(0, as: Int.self) } == Array(Schema.baseline...Schema.latest))
    }

    @Test func newerVersionIsRefused() async throws {
        let connection = try migrated()
        try connection.execute(.init("INSERT INTO schema_versions (version) VALUES (1000)"))
        let error = #expect(throws: StoreError.self) { try PostgresSchema.migrate(connection, name: "fetchd@db") }
        #expect(error == .databaseFromNewerVersion(path: "fetchd@db", schema: 1000, known: Schema.latest))
    }

    private static func sqlite() throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try Schema.migrator.migrate(database)
        return database
    }
}
