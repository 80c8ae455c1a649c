import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

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
        #expect(try newest[0].value(0, as: Int.self) == PostgresSchema.latest)
        #expect(try await store.compareCounts().drifts.isEmpty)
        try await store.expectDataOfFixture(jobs: before.counts["jobs"] ?? 0)
        try await store.close()
    }

    @Test(arguments: PostgresSchemaFixture.versions) func continuesWithTheData(_ version: Int) async throws {
        let (database, folder) = try PostgresSchemaFixture(version: version).open()
        let store = try Store(
            at: folder.path, options: PostgresSchemaFixture.options(database), time: SchemaFixture.time)
        try await store.expectToContinue()
        try await store.close()
    }
}
