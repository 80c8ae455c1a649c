import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

/// Writes the fixtures that are missing, on request only: `Tests/Fixtures/write`.
///
/// The fixture of the latest version has what the store of this program writes. An earlier one is the fixture before it,
/// migrated, with rows for the columns that were new (`SchemaFixtureRows`). On PostgreSQL, only the latest can be written.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["FETCHD_WRITE_SCHEMA_FIXTURES"] != nil), .sharedPostgresServer)
struct SchemaFixtureWriter {
    @Test func writesTheMissingFixtures() async throws {
        for fixture in SchemaFixture.all where !fixture.exists {
            let folder = fixture.version == Schema.latest ? try await latest() : try earlier(fixture)
            try fixture.write(folder.path("fetchd.sqlite"))
        }
        #expect(SchemaFixture.all.filter { !$0.exists }.isEmpty)
    }

    @Test(.enabled(if: PostgresServer.isAvailable)) func writesTheMissingFixtureOfPostgres() async throws {
        let fixture = PostgresSchemaFixture(version: PostgresSchema.latest)
        if !fixture.exists { try await fixture.write() }
        #expect(fixture.exists)
    }

    private func latest() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try SchemaFixture.writeKey(into: folder.path)
        try await SchemaFixtureData(in: folder).write()
        return folder
    }

    private func earlier(_ fixture: SchemaFixture) throws -> TemporaryFolder {
        let folder: TemporaryFolder
        if let before = SchemaFixture.all.last(where: { $0.version < fixture.version }) {
            folder = try before.open()
        } else {
            folder = try TemporaryFolder()
        }
        let path = folder.path("fetchd.sqlite")
        let database = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(database, upTo: fixture.migration)
        try database.write { try $0.execute(sql: SchemaFixtureRows.new[fixture.version] ?? "") }
        try database.close()
        if fixture.version >= 13 { try seal(folder) }
        return folder
    }

    /// A service of these versions sealed all secrets before it did anything else.
    private func seal(_ folder: TemporaryFolder) throws {
        let connections = try Connections(path: folder.path("fetchd.sqlite"), readers: 1)
        let unlocking = try Unlocking(try DataFolder(at: folder.path), .dataFolder)
        let log = Logger(label: "test")
        try SealingStep.runAll(connections, Sealer(keys: try unlocking.keyring(connections, log)), log)
        try connections.close()
    }
}
