import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Tests the checks that run when a store opens.
@Suite(.onSQLite) struct OpeningTests {
    @Test func syncsEveryCommit() throws {
        let fixture = try StoreFixture()
        let (synchronous, journal) = try fixture.store.pool.writeWithoutTransaction { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode")
            )
        }
        #expect(synchronous == 2)
        #expect(journal == "wal")
    }

    @Test func readersCannotWrite() throws {
        let fixture = try StoreFixture()
        #expect(throws: DatabaseError.self) {
            try fixture.store.pool.unsafeRead { try $0.execute(sql: "DELETE FROM sessions") }
        }
    }

    @Test func locksTheFolderForOneService() throws {
        let fixture = try StoreFixture()
        #expect(throws: StoreError.folderInUse(path: fixture.folder.path)) { try Store(at: fixture.folder.path) }
    }

    @Test func refusesADamagedDatabaseWithoutChangingIt() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/fetchd.sqlite"
        let rubbish = Data(repeating: 0x5A, count: 5000)
        try rubbish.write(to: URL(fileURLWithPath: path))
        #expect { try Store(at: folder.path) } throws: { error in
            guard case .databaseUnreadable? = error as? StoreError else { return false }
            return true
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == rubbish)
    }

    @Test func refusesADatabaseOfANewerVersion() async throws {
        let folder = try TemporaryFolder()
        // Written with SQL: a child process of another test may hold the lock of a store for a moment longer.
        let newer = try DatabaseQueue(path: folder.path + "/fetchd.sqlite")
        try Schema.migrator.migrate(newer)
        try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from the future')") }
        try newer.close()
        let error = StoreError.databaseFromNewerVersion(
            path: folder.path + "/fetchd.sqlite", schema: 99, known: Schema.latest)
        #expect(throws: error) { try Store(at: folder.path) }
    }

    @Test func reportsAFolderThatCannotBeCreated() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
        #expect { try Store(at: folder.path + "/file/data") } throws: { error in
            guard case .folderUnusable? = error as? StoreError else { return false }
            return true
        }
    }

    /// The CHECKs repeat invariants of the Swift types.
    @Test(arguments: [
        "INSERT INTO batches VALUES ('default', 1, 'due', 0, 0, 0, 0, NULL, NULL, NULL)",
        "INSERT INTO batches VALUES ('default', 1, 'due', 1, 0, 0, 0, 5, NULL, NULL)",
        "INSERT INTO batches VALUES ('nobody', 1, 'open', 0, 0, 0, 0, NULL, NULL, NULL)",
        "UPDATE jobs SET state = 'waiting'", "UPDATE jobs SET state = 'failed'", "UPDATE jobs SET state = 'succeeded'",
        "UPDATE jobs SET state = 'asleep'", "UPDATE jobs SET promotion = '{}'", "UPDATE jobs SET finished_at = 1",
        "UPDATE jobs SET batch = 77", "UPDATE jobs SET attempts = 'many'",
        "INSERT INTO parts VALUES ('p', (SELECT id FROM jobs), 'u', NULL, NULL, 0, 0, 10, 11)",
        "UPDATE deliveries SET next_attempt_at = NULL", "DELETE FROM sessions WHERE id = 'default'",
    ])
    func checksRefuseInvalidRows(_ sql: String) async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.declareWebhook()
        _ = try await fixture.create()
        #expect(throws: DatabaseError.self) { try fixture.store.pool.write { try $0.execute(sql: sql) } }
    }
}
