import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// A database of a version before 0.2.0 is refused with a sentence that says what to do, and nothing is written.
@Suite(.onSQLite) struct OlderDatabaseTests {
    /// What a database of fetchd before 0.2.0 has recorded of itself, with a table of that time.
    private func databaseOfVersion17() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    CREATE TABLE jobs (id TEXT NOT NULL PRIMARY KEY) STRICT;
                    INSERT INTO jobs VALUES ('job_1');
                    INSERT INTO grdb_migrations VALUES ('1: sessions, jobs, journal, webhooks'), ('16: traces of jobs'),
                        ('17: throughput');
                    """)
        }
        try database.close()
        return folder
    }

    private static let advice = "Upgrade with fetchd 0.2.0 first"

    @Test func isNotOpened() throws {
        let folder = try databaseOfVersion17()
        let path = folder.path("fetchd.sqlite")
        let before = folder.bytes(of: "fetchd.sqlite")
        let error = #expect(throws: StoreError.self) { try Store(at: folder.path) }
        #expect(error == .databaseFromOlderVersion(path: path, schema: 17))
        #expect(error?.description.contains("has the schema version 17") == true)
        #expect(error?.description.contains(Self.advice) == true)
        #expect(folder.bytes(of: "fetchd.sqlite") == before)
        #expect(folder.files == ["fetchd.sqlite", "lock"])
    }

    @Test func aBackupOfOneIsNotRestored() async throws {
        let (old, fixture) = (try databaseOfVersion17(), try StoreFixture())
        try await fixture.store.close()
        let copy = old.path("fetchd.sqlite")
        let before = fixture.folder.bytes(of: "fetchd.sqlite")
        #expect(throws: StoreError.databaseFromOlderVersion(path: copy, schema: 17)) {
            try Restoration.run(copy, into: fixture.folder.path)
        }
        #expect(throws: StoreError.databaseFromOlderVersion(path: copy, schema: 17)) { try Backup.verify(copy) }
        #expect(fixture.folder.bytes(of: "fetchd.sqlite") == before)
        #expect(!fixture.folder.files.contains { $0.contains("restoring") || $0.contains("replaced") })
    }

    /// A restore replaces one, as it replaces a database that cannot be read.
    @Test func isReplacedByARestore() async throws {
        let (old, fixture) = (try databaseOfVersion17(), try StoreFixture())
        try await fixture.store.close()
        let report = try Restoration.run(fixture.folder.path("fetchd.sqlite"), into: old.path)
        #expect(report.replacedIsUnreadable && report.replaced != nil)
        #expect(report.lastEvent >= Restoration.reserve)
    }

    @Test func isNotChangedByCommands() async throws {
        let folder = try databaseOfVersion17()
        let before = folder.bytes(of: "fetchd.sqlite")
        let commands = [
            ["serve", "--listen", "127.0.0.1:0", "--downloads-dir", folder.path("downloads")],
            ["backup", folder.path("copy")], ["doctor", "--no-webhooks", "--downloads-dir", folder.path("downloads")],
        ]
        for command in commands {
            let outcome = try await FetchdProcess.run(command + ["--data-dir", folder.path])
            #expect(outcome.ending == .exited(1))
            #expect((outcome.output + outcome.errors).contains(Self.advice), "\(outcome)")
        }
        #expect(throws: StoreError.self) { try KeyRotation.giveUpKey(inDataFolder: folder.path) }
        #expect(folder.bytes(of: "fetchd.sqlite") == before)
        #expect(!folder.files.contains("copy"))
    }

    /// A start of 0.2.0 that was killed before it had encrypted the secrets of an earlier version.
    @Test func plainSecretsAreRefused() throws {
        let folder = try SchemaFixture(version: Schema.baseline).open()
        let database = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try database.write { try $0.execute(sql: "UPDATE sealing SET step = 'seal'") }
        try database.close()
        let before = folder.bytes(of: "fetchd.sqlite")
        let error = #expect(throws: StoreError.self) { try Store(at: folder.path, time: SchemaFixture.time) }
        #expect(error?.description.contains("0.2.0 was interrupted while it upgraded it") == true)
        #expect(error?.description.contains(Self.advice) == true)
        #expect(folder.bytes(of: "fetchd.sqlite") == before)
    }

    /// The former migrations are one: a database of 0.2.0 and a new one record the same.
    @Test(arguments: SchemaFixture.all.map(\.version)) func migrationsAreThoseOfANewDatabase(_ version: Int)
        async throws
    {
        let folder = try SchemaFixture(version: version).open()
        try await Store(at: folder.path, time: SchemaFixture.time).close()
        let recorded = try await DatabaseQueue(path: folder.path("fetchd.sqlite")).read {
            try Schema.migrator.appliedIdentifiers($0)
        }
        #expect(recorded == Set(Schema.migrator.migrations))
    }
}
