import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// A backup is one complete, private file, also if the service runs meanwhile.
@Suite(.onSQLite) struct BackupTests {
    private func jobs(in file: String) throws -> Int? {
        try DatabaseQueue(path: file).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM jobs") }
    }

    @Test func copiesEverythingThatWasAcknowledgedBesideARunningStore() async throws {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        // The changes are only in the log.
        _ = try await fixture.create(3)
        let report = try Backup.make(of: fixture.folder.path, to: copies.path("b.sqlite"), verifying: true)
        #expect(report.contents.jobs == 3 && report.contents.lastEvent == 3)
        #expect(report.contents.schema == Schema.latest)
        #expect(copies.files == ["b.sqlite"])
        #expect(report.bytes == Int64(copies.bytes(of: "b.sqlite")?.count ?? 0))
        _ = try await fixture.create(2)
        #expect(try jobs(in: copies.path("b.sqlite")) == 3)
        let mode = try FileManager.default.attributesOfItem(atPath: copies.path("b.sqlite"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func canBeRestored() async throws {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        _ = try await fixture.create(3)
        _ = try Backup.make(of: fixture.folder.path, to: copies.path("b.sqlite"))
        try await fixture.store.close()
        #expect(try Restoration.run(copies.path("b.sqlite"), into: fixture.folder.path).jobs == 3)
        let store = try Store(at: fixture.folder.path, time: fixture.time)
        #expect(try await store.jobs(JobQuery()).jobs.count == 3)
    }

    @Test func copiesAStoppedOrCrashedFolderAndChangesNoContent() async throws {
        let crashed = try await CrashedFolder.withJobs()
        let copies = try TemporaryFolder()
        #expect(try Backup.make(of: crashed.folder.path, to: copies.path("b")).contents.jobs == 3)
        for (name, bytes) in crashed.files { #expect(crashed.folder.bytes(of: name) == bytes, "\(name)") }
        #expect(try await crashed.open().jobs(JobQuery()).jobs.count == 3)
    }

    @Test func replacesAFileOnlyOnRequest() async throws {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        try copies.write("precious", to: "b")
        #expect(throws: StoreError.backupExists(copies.path("b"))) {
            try Backup.make(of: fixture.folder.path, to: copies.path("b"))
        }
        #expect(copies.bytes(of: "b") == Array("precious".utf8))
        #expect(try Backup.make(of: fixture.folder.path, to: copies.path("b"), replacing: true).contents.jobs == 0)
        #expect(copies.files == ["b"])
        #expect(try jobs(in: copies.path("b")) == 0)
    }

    @Test(arguments: ["fetchd.sqlite", "fetchd.sqlite-wal", "fetchd.key", "lock"])
    func refusesTheNamesOfTheService(_ name: String) async throws {
        let fixture = try StoreFixture()
        let before = fixture.folder.bytes(of: name)
        #expect(throws: StoreError.self) {
            try Backup.make(of: fixture.folder.path, to: fixture.folder.path(name), replacing: true)
        }
        #expect(fixture.folder.bytes(of: name) == before)
    }

    @Test func refusesANameWhoseLogExists() async throws {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        try copies.write("a log of another database", to: "b-wal")
        #expect(throws: StoreError.self) { try Backup.make(of: fixture.folder.path, to: copies.path("b")) }
        #expect(copies.files == ["b-wal"])
    }

    @Test func refusesAFolderThatLacksCommittedData() async throws {
        let crashed = try await CrashedFolder.withJobs()
        let copies = try TemporaryFolder()
        try crashed.remove(CrashedFolder.log)
        #expect {
            try Backup.make(of: crashed.folder.path, to: copies.path("b"))
        } throws: { error in
            guard case .databaseIncomplete? = error as? StoreError else { return false }
            return true
        }
        #expect(throws: StoreError.self) { try Backup.make(of: copies.path, to: copies.path("b")) }
        #expect(copies.files.isEmpty)
    }

    @Test func takesOverTheDraftOfAnInterruptedBackup() async throws {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        try copies.write(String(repeating: "x", count: 1 << 20), to: "b.partial")
        _ = try Backup.make(of: fixture.folder.path, to: copies.path("b"), verifying: true)
        #expect(copies.files == ["b"])
        #expect((copies.bytes(of: "b")?.count ?? 0) < 1 << 20)
    }

    @Test func theCheckFindsDamageAndBrokenReferences() async throws {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        _ = try await fixture.create(200)
        let copy = copies.path("b")
        _ = try Backup.make(of: fixture.folder.path, to: copy)
        #expect(try Backup.verify(copy).jobs == 200)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        try await DatabaseQueue(path: copy, configuration: configuration).write {
            try $0.execute(sql: "DELETE FROM batches")
        }
        #expect(
            throws: StoreError.copyUnusable(
                path: copy, why: "it is damaged: a row of jobs refers to a missing row of batches")
        ) { try Backup.verify(copy) }
        try copies.write("This is no database.", to: "text")
        for (path, why) in [
            (copies.path("text"), "it is not a database of fetchd"),
            (copies.path("missing"), "No such file or directory"), (copies.path, "it is a folder"),
        ] {
            #expect(throws: StoreError.copyUnusable(path: path, why: why)) { try Backup.verify(path) }
        }
    }
}
