import Downloads
import Foundation
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

/// Every schema version that fetchd has had on PostgreSQL can be upgraded, with all of its data.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresUpgradeTests {
    /// A new version needs a fixture: `Tests/Fixtures/write` writes it.
    @Test func everySchemaVersionHasAFixture() {
        let missing = PostgresSchemaFixture.versions.filter { !PostgresSchemaFixture(version: $0).exists }
        #expect(missing.isEmpty, "Run Tests/Fixtures/write, and commit Tests/Fixtures/schemas/postgres.")
    }

    @Test(arguments: PostgresSchemaFixture.versions) func keepsAllDataOfTheVersion(_ version: Int) async throws {
        let (database, folder) = try PostgresSchemaFixture(version: version).open()
        let before = try StoredRows(readFrom: database.connect())
        #expect(before.counts["jobs"] ?? 0 >= 8 && before.counts["deliveries"] ?? 0 >= 4)
        let store = try Store(
            at: folder.path, options: PostgresSchemaFixture.options(database), time: SchemaFixture.time)
        let after = try StoredRows(readFrom: database.connect())
        for difference in before.differences(to: after) { Issue.record("\(difference)") }
        let newest = try database.connect().execute(.init("SELECT max(version) FROM schema_versions"))
        #expect(try newest[0].value(0, as: Int.self) == Schema.latest)
        #expect(try await store.compareCounts().drifts.isEmpty)
        try await store.expectDataOfFixture(jobs: before.counts["jobs"] ?? 0)
        try await store.close()
    }

    /// What the values of `Schema` give to a new database is what an upgraded one has.
    @Test(arguments: PostgresSchemaFixture.versions) func newTablesAreThoseOfAnUpgradedDatabase(_ version: Int) throws {
        let new = try PostgresFixture()
        try PostgresSchema.migrate(try new.connect(), name: "test")
        let (upgraded, folder) = try PostgresSchemaFixture(version: version).open()
        defer { withExtendedLifetime(folder) {} }
        try PostgresSchema.migrate(try upgraded.connect(), name: "test")
        for query in Self.descriptions {
            let (own, other) = (try Self.texts(query, in: new), try Self.texts(query, in: upgraded))
            #expect(!own.isEmpty && own.symmetricDifference(other) == [])
        }
    }

    private static let descriptions = [
        // Tables.
        """
        SELECT concat_ws(' ', relname, relpersistence, array_to_string(reloptions, ',')) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        """,
        // Columns.
        """
        SELECT concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable, column_default,
            identity_generation)
        FROM information_schema.columns WHERE table_schema = current_schema()
        """,
        "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()",
        // Keys and conditions.
        """
        SELECT concat_ws(' ', relname, contype, pg_get_constraintdef(pg_constraint.oid))
        FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
        WHERE connamespace = current_schema()::regnamespace
        """,
    ]

    private static func texts(_ query: String, in database: PostgresFixture) throws -> Set<String> {
        let rows = try database.connect().execute(.init(query, isPrepared: false))
        return Set(try rows.map { try $0.value(0, as: String.self).replacing("\(database.name).", with: "") })
    }

    @Test(arguments: PostgresSchemaFixture.versions) func continuesWithTheData(_ version: Int) async throws {
        let (database, folder) = try PostgresSchemaFixture(version: version).open()
        let store = try Store(
            at: folder.path, options: PostgresSchemaFixture.options(database), time: SchemaFixture.time)
        try await store.expectToContinue()
        try await store.close()
    }
}
