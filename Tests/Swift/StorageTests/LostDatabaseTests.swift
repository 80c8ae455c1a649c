import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Tests that a database or log with lost data is refused with one sentence, and that nothing in the folder changes.
@Suite(.onSQLite) struct LostDatabaseTests {
    private func refusal(_ crashed: CrashedFolder, _ location: SourceLocation = #_sourceLocation) throws -> StoreError {
        let before = crashed.contents
        let error = try #require(throws: StoreError.self, sourceLocation: location) { try crashed.open() }
        #expect(crashed.contents == before, "the folder has changed", sourceLocation: location)
        return error
    }

    private func loss(_ crashed: CrashedFolder, _ location: SourceLocation = #_sourceLocation) throws -> StoreError
        .Loss?
    {
        let error = try refusal(crashed, location)
        guard case .databaseIncomplete(_, let loss) = error else { return nil }
        #expect("\(error)".contains("fetchd restore FILE"), sourceLocation: location)
        return loss
    }

    @Test func opensAfterACrash() async throws {
        let crashed = try await CrashedFolder.withJobs()
        #expect(try await crashed.open().jobs(JobQuery()).jobs.count == 3)
    }

    @Test func refusesAMissingLog() async throws {
        let crashed = try await CrashedFolder.withJobs()
        try crashed.remove(CrashedFolder.log)
        #expect(try loss(crashed) == .commits(3, .logMissing))
    }

    @Test func refusesAnEmptiedLog() async throws {
        let crashed = try await CrashedFolder.withJobs()
        try crashed.write([], to: CrashedFolder.log)
        #expect(try loss(crashed) == .commits(3, .logMissing))
    }

    /// SQLite ignores the whole log when its header is wrong.
    @Test func refusesALogWithADamagedHeader() async throws {
        for byte in [0, 5, 9, 17, 25, 31] {
            let crashed = try await CrashedFolder.withJobs()
            var log = try crashed.bytes(of: CrashedFolder.log)
            log[byte] ^= 4
            try crashed.write(log, to: CrashedFolder.log)
            #expect(try loss(crashed) == .commits(3, .logDamaged), "byte \(byte)")
        }
    }

    @Test func refusesACutLog() async throws {
        let crashed = try await CrashedFolder.withJobs()
        let log = try crashed.bytes(of: CrashedFolder.log)
        for count in [31, 32, 5000, log.count / 2, log.count - 1] {
            try crashed.write(Array(log.prefix(count)), to: CrashedFolder.log)
            guard case .commits(1..., .logDamaged)? = try loss(crashed) else {
                Issue.record("a log of \(count) bytes")
                continue
            }
        }
    }

    @Test func refusesADamagedFrameOfTheLog() async throws {
        let crashed = try await CrashedFolder.withJobs()
        var log = try crashed.bytes(of: CrashedFolder.log)
        log[log.count - 100] ^= 1
        try crashed.write(log, to: CrashedFolder.log)
        #expect(try loss(crashed) == .commits(1, .logDamaged))
    }

    /// Changes without an event count as well, such as the configuration of a session.
    @Test func detectsALostCommitWithoutAnEvent() async throws {
        let crashed = try await CrashedFolder { fixture in
            _ = try await fixture.store.declareSession(Name(trusted: "films"), configuration: nil)
        }
        try crashed.remove(CrashedFolder.log)
        #expect(try loss(crashed) == .commits(1, .logMissing))
    }

    @Test func refusesAMissingOrEmptiedDatabase() async throws {
        let crashed = try await CrashedFolder.withJobs()
        try crashed.write([], to: CrashedFolder.database)
        #expect(try loss(crashed) == .emptied)
        try crashed.remove(CrashedFolder.database)
        #expect(try loss(crashed) == .missing)
        try crashed.remove(CrashedFolder.log)
        #expect(try loss(crashed) == .missing)
    }

    /// The folder of an earlier version: SQLite would remove the log.
    @Test func refusesALogWithoutItsDatabaseAlsoWithoutAMark() async throws {
        let crashed = try await CrashedFolder.withJobs()
        try crashed.remove(CrashedFolder.mark)
        try crashed.remove(CrashedFolder.database)
        #expect(try loss(crashed) == .missing)
    }

    @Test func refusesAnOlderCopy() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.create()
        try await fixture.store.close()
        let copy = try #require(fixture.folder.bytes(of: CrashedFolder.database))
        let store = try Store(at: fixture.folder.path)
        _ = try await store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://host/"))])
        try await store.close()
        let closed = try CrashedFolder(copying: fixture.folder)
        try closed.write(copy, to: CrashedFolder.database)
        #expect(try loss(closed) == .commits(1, .olderCopy))
    }

    @Test func refusesTheDatabaseOfAnotherFolder() async throws {
        let (crashed, other) = (try await CrashedFolder.withJobs(), try await CrashedFolder.withJobs())
        try crashed.write(other.bytes(of: CrashedFolder.database), to: CrashedFolder.database)
        try crashed.write(other.bytes(of: CrashedFolder.log), to: CrashedFolder.log)
        #expect(try loss(crashed) == .foreign)
    }

    @Test func refusesADamagedMark() async throws {
        let crashed = try await CrashedFolder.withJobs()
        for bytes in [[], Array("rubbish".utf8), Array(try crashed.bytes(of: CrashedFolder.mark).dropLast())] {
            try crashed.write(bytes, to: CrashedFolder.mark)
            #expect(try refusal(crashed) == .markUnreadable(path: crashed.path(CrashedFolder.mark)))
        }
        // The error message recommends this.
        try crashed.remove(CrashedFolder.mark)
        #expect(try await crashed.open().jobs(JobQuery()).jobs.count == 3)
    }

    /// A database of this size is checked before it is used.
    @Test func refusesADamagedPageAfterACrash() async throws {
        let crashed = try CrashedFolder(copying: try await damaged())
        guard case .databaseDamaged = try refusal(crashed) else {
            Issue.record("opened")
            return
        }
    }

    @Test func findsADamagedPageOfALargeDatabaseWhileItIsUsed() async throws {
        let crashed = try CrashedFolder(copying: try await damaged())
        var options = Store.Options()
        options.quickCheckLimit = 0
        let store = try Store(at: crashed.folder.path, options: options)
        let error = try await eventually("the damage to be found") {
            do throws(StoreError) { try await store.check() } catch { return error }
            return nil
        }
        guard case .databaseDamaged = error else {
            Issue.record("\(error)")
            return
        }
        try? await store.close()
    }

    /// A folder that was not closed, with a damaged page of an index.
    private func damaged() async throws -> TemporaryFolder {
        let fixture = try StoreFixture()
        _ = try await fixture.create(200)
        try await fixture.store.close()
        let path = fixture.folder.path(CrashedFolder.database)
        let (root, size) = try await DatabaseQueue(path: path).read { db in
            (
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'events_by_session'")!,
                try Int.fetchOne(db, sql: "PRAGMA page_size")!
            )
        }
        var bytes = try #require(fixture.folder.bytes(of: CrashedFolder.database))
        for index in (root - 1) * size + 200..<root * size { bytes[index] ^= 0x55 }
        try Data(bytes).write(to: URL(filePath: path))
        var mark = try #require(Mark(fixture.folder.bytes(of: CrashedFolder.mark) ?? []))
        mark.state = .running
        try Data(mark.bytes).write(to: URL(filePath: fixture.folder.path(CrashedFolder.mark)))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        return fixture.folder
    }

    // MARK: What is no loss

    @Test func acceptsADatabaseOfAVersionWithoutAMark() async throws {
        let crashed = try await CrashedFolder.withJobs()
        try crashed.remove(CrashedFolder.mark)
        #expect(try await crashed.open().jobs(JobQuery()).jobs.count == 3)
        #expect(Mark(crashed.folder.bytes(of: CrashedFolder.mark) ?? [])?.position.lastEvent == 3)
    }

    @Test func acceptsAnEmptyLogBeforeTheFirstCommit() async throws {
        let crashed = try await CrashedFolder { _ in }
        #expect(try crashed.bytes(of: CrashedFolder.log).isEmpty)
        let store = try crashed.open()
        #expect(try await store.jobs(JobQuery()).jobs.isEmpty)
        try await store.close()
        try? crashed.remove(CrashedFolder.log)
        #expect(try await crashed.open().jobs(JobQuery()).jobs.isEmpty)
    }

    /// The last connection of the other process copies and removes the log.
    @Test func acceptsALogThatAnotherProcessHasCopied() async throws {
        let crashed = try await CrashedFolder.withJobs()
        let other = try DatabaseQueue(path: crashed.path(CrashedFolder.database))
        _ = try await other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM jobs") }
        try other.close()
        #expect(crashed.folder.bytes(of: CrashedFolder.log) == nil)
        #expect(try await crashed.open().jobs(JobQuery()).jobs.count == 3)
    }

    /// After a power loss: the last writes of the mark were not synced.
    @Test func acceptsAnOlderMark() async throws {
        let crashed = try await CrashedFolder.withJobs()
        var mark = try #require(Mark(try crashed.bytes(of: CrashedFolder.mark)))
        mark.position = .init()
        try crashed.write(mark.bytes, to: CrashedFolder.mark)
        #expect(try await crashed.open().jobs(JobQuery()).jobs.count == 3)
    }

    @Test func theMarkEqualsTheLastCommit() async throws {
        let fixture = try StoreFixture()
        for _ in 0..<5 {
            _ = try await fixture.create(3)
            let mark = try #require(Mark(fixture.folder.bytes(of: CrashedFolder.mark) ?? []))
            let history = try #require(try await fixture.store.read { try History.read($0) })
            #expect(mark.position == .init(commits: history.commits, lastEvent: try await fixture.store.lastEvent()))
            #expect(mark.identity == history.identity)
            #expect(mark.state == .running)
        }
        try await fixture.store.close()
        #expect(Mark(fixture.folder.bytes(of: CrashedFolder.mark) ?? [])?.state == .clean)
    }
}
