import Foundation
import TestKit
import Testing

@testable import Storage

/// Writes the fixtures that are missing, on request only: `Tests/Fixtures/write`.
///
/// Only the fixture of the latest version can be written: it has what the store of this program writes.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["FETCHD_WRITE_SCHEMA_FIXTURES"] != nil), .sharedPostgresServer)
struct SchemaFixtureWriter {
    @Test func writesTheMissingFixture() async throws {
        let fixture = SchemaFixture(version: Schema.latest)
        let folder = try await latest()
        try withExtendedLifetime(folder) {
            if !fixture.exists { try fixture.write(folder.path("fetchd.sqlite")) }
        }
        #expect(fixture.exists)
    }

    @Test(.enabled(if: PostgresServer.isAvailable)) func writesTheMissingFixtureOfPostgres() async throws {
        let fixture = PostgresSchemaFixture(version: Schema.latest)
        if !fixture.exists { try await fixture.write() }
        #expect(fixture.exists)
    }

    private func latest() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try SchemaFixture.writeKey(into: folder.path)
        try await SchemaFixtureData(in: folder).write()
        return folder
    }
}
