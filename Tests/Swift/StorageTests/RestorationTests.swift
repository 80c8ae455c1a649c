import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Tests that a copy replaces the database, and that no identifier is assigned twice.
@Suite(.onSQLite) struct RestorationTests {
    /// A closed folder with five jobs, and a copy of its database with two of them.
    private func stage() async throws -> (folder: TemporaryFolder, copy: String, copies: TemporaryFolder) {
        let (fixture, copies) = (try StoreFixture(), try TemporaryFolder())
        _ = try await fixture.create(2)
        try await fixture.store.close()
        let copy = copies.path("copy.sqlite")
        try FileManager.default.copyItem(atPath: fixture.folder.path(CrashedFolder.database), toPath: copy)
        let store = try Store(at: fixture.folder.path, time: fixture.time)
        _ = try await Self.create(3, in: store)
        try await store.close()
        return (fixture.folder, copy, copies)
    }

    @discardableResult
    private static func create(_ count: Int, in store: Store) async throws -> [Job] {
        try await store.createJobs(
            (0..<count).map { _ in NewJob(session: .default, spec: JobSpec(url: "https://host/")) })
    }

    @Test func replacesTheDatabaseAndKeepsTheOldOne() async throws {
        let (folder, copy, copies) = try await stage()
        let bytes = copies.bytes(of: "copy.sqlite")
        let report = try Restoration.run(copy, into: folder.path)
        #expect(report.jobs == 2)
        #expect(report.lastEvent == 5)
        #expect(!report.replacedIsUnreadable)
        #expect(copies.bytes(of: "copy.sqlite") == bytes)
        #expect(copies.files == ["copy.sqlite"])
        let replaced = try DatabaseQueue(path: try #require(report.replaced))
        #expect(try await replaced.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM jobs") } == 5)
        let store = try Store(at: folder.path)
        #expect(try await store.jobs(JobQuery()).jobs.count == 2)
        #expect(store.beganAt != nil)
    }

    @Test func continuesAboveEveryIdentifierOfTheReplacedDatabase() async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        // The clock of the copy is ahead, so identifiers of the present time would sort below its own.
        let ahead = ManualTime()
        ahead.advance(by: 1_000_000)
        let former = try Store(at: folder.path, time: ahead)
        let last = try #require(try await Self.create(1, in: former).first)
        try await Self.finish(last, former, ahead)
        try await Self.finish(try #require(try await Self.create(1, in: former).first), former, ahead)
        let (lastEvent, batch) = (try await former.lastEvent(), try await former.session(.default).batch)
        try await former.close()
        _ = try Restoration.run(copy, into: folder.path)
        let time = ManualTime()
        let store = try Store(at: folder.path, time: time)
        for job in try await store.jobs(JobQuery()).jobs {
            _ = try await store.apply(.cancelRequested(keepsPart: false), to: job.id)
        }
        time.advance(by: 10)
        _ = try await store.finishDueBatches()
        let new = try #require(try await Self.create(1, in: store).first)
        #expect(new.id.text > last.id.text)
        #expect(new.batch > batch)
        let events = try await store.events(EventQuery(after: 2, limit: 100)).events
        #expect(try #require(events.first).id > lastEvent)
        #expect(store.makePartID().text.split(separator: "_")[1] > last.id.text.split(separator: "_")[1])
    }

    private static func finish(_ job: Job, _ store: Store, _ time: ManualTime) async throws {
        for job in try await store.jobs(JobQuery()).jobs where !job.state.isTerminal {
            _ = try await store.apply(.cancelRequested(keepsPart: false), to: job.id)
        }
        time.advance(by: 10)
        _ = try await store.finishDueBatches()
    }

    /// Only the mark shows its events, and the mark may be older. A reserve covers the difference.
    @Test func continuesAboveTheMarkWhenTheReplacedDatabaseIsUnreadable() async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        try Data("rubbish".utf8).write(to: URL(filePath: folder.path(CrashedFolder.database)))
        let report = try Restoration.run(copy, into: folder.path)
        #expect(report.replacedIsUnreadable)
        #expect(report.lastEvent == 5 + Restoration.reserve)
        #expect(folder.files.contains { folder.bytes(of: $0) == Array("rubbish".utf8) })
    }

    @Test func continuesAboveTheMarkWhenTheDatabaseIsMissing() async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        try FileManager.default.removeItem(atPath: folder.path(CrashedFolder.database))
        let report = try Restoration.run(copy, into: folder.path)
        #expect(report.replaced == nil)
        #expect(report.lastEvent == 5)
        let store = try Store(at: folder.path)
        try await Self.create(1, in: store)
        #expect(try await store.lastEvent() == 6)
    }

    @Test func restoresIntoANewFolder() async throws {
        let (former, copy, copies) = try await stage()
        defer { withExtendedLifetime((former, copies)) {} }
        let folder = try TemporaryFolder()
        let report = try Restoration.run(copy, into: folder.path("data"))
        #expect(report.lastEvent == 2)
        // The report says that the next start needs the key of the copy.
        guard case .missing(let lost) = report.key, !lost.isEmpty else {
            Issue.record("\(report.key)")
            return
        }
        try FileManager.default.copyItem(
            atPath: former.path("fetchd.key"), toPath: folder.path("data/fetchd.key"))
        #expect(try Restoration.run(copy, into: folder.path("data")).key == .fits)
        let store = try Store(at: folder.path("data"))
        #expect(try await store.jobs(JobQuery()).jobs.count == 2)
        #expect(try await store.statistics().jobs == [.queued: 2])
        #expect(try await store.compareCounts().drifts.isEmpty)
    }

    /// An operator may accept the database of the folder without its lost log. The identifiers of lost events are not
    /// assigned again.
    @Test func restoresTheDatabaseOfTheFolderItself() async throws {
        let crashed = try await CrashedFolder.withJobs()
        try crashed.remove(CrashedFolder.log)
        #expect(throws: StoreError.self) { try crashed.open() }
        let report = try Restoration.run(crashed.path(CrashedFolder.database), into: crashed.folder.path)
        #expect(report.jobs == 0)
        #expect(report.lastEvent == 3)
        #expect(try await crashed.open().jobs(JobQuery()).jobs.isEmpty)
    }

    @Test func restoresTheLogBesideTheCopy() async throws {
        let crashed = try await CrashedFolder.withJobs()
        let folder = try TemporaryFolder()
        #expect(try Restoration.run(crashed.path(CrashedFolder.database), into: folder.path).jobs == 3)
        #expect(crashed.contents == crashed.files)
    }

    @Test func refusesTheReplacedDatabaseInPlaceOfTheRestoredOne() async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        let replaced = try #require(try Restoration.run(copy, into: folder.path).replaced)
        try FileManager.default.removeItem(atPath: folder.path(CrashedFolder.database))
        try FileManager.default.moveItem(atPath: replaced, toPath: folder.path(CrashedFolder.database))
        #expect(
            throws: StoreError.databaseIncomplete(path: folder.path(CrashedFolder.database), .foreign)
        ) { try Store(at: folder.path) }
    }

    @Test func refusesAnUnusableCopyAndChangesNothing() async throws {
        let (folder, copy, copies) = try await stage()
        let before = folder.files.map { folder.bytes(of: $0) }
        try copies.write("This is no database.", to: "text")
        try copies.write("", to: "empty")
        try await DatabaseQueue(path: copies.path("other.sqlite")).write { try $0.execute(sql: "CREATE TABLE t (a)") }
        var bytes = try #require(copies.bytes(of: "copy.sqlite"))
        for index in 4096..<20_000 { bytes[index] ^= 0x33 }
        try Data(bytes).write(to: URL(filePath: copies.path("damaged.sqlite")))
        for name in ["text", "empty", "missing", "other.sqlite", "damaged.sqlite"] {
            #expect { try Restoration.run(copies.path(name), into: folder.path) } throws: { error in
                guard case .copyUnusable(copies.path(name), _)? = error as? StoreError else { return false }
                return true
            }
        }
        try await DatabaseQueue(path: copy).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: x')")
        }
        #expect(throws: StoreError.databaseFromNewerVersion(path: copy, schema: 99, known: Schema.latest)) {
            try Restoration.run(copy, into: folder.path)
        }
        #expect(folder.files.map { folder.bytes(of: $0) } == before)
    }

    @Test func refusesTheFolderOfARunningService() async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        let store = try Store(at: folder.path)
        #expect(throws: StoreError.folderInUse(path: folder.path)) { try Restoration.run(copy, into: folder.path) }
        try await store.close()
    }

    /// The folder is copied at each step, as SIGKILL would leave it. The next start of the copy has the former database
    /// or the restored one, and the former one is kept.
    @Test(arguments: Restoration.Step.allCases, [false, true])
    func anInterruptedRestoreLeavesTheFormerOrTheNewDatabase(_ step: Restoration.Step, hasLog: Bool) async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        // With a log, the former database is incomplete without it.
        let crashed = hasLog ? try await CrashedFolder.withJobs() : try CrashedFolder(copying: folder)
        let former = hasLog ? 3 : 5
        var killed: CrashedFolder?
        _ = try Restoration.run(copy, into: crashed.folder.path, at: Date()) { reached in
            if reached == step { killed = try CrashedFolder(copying: crashed.folder) }
        }
        let left = try #require(killed)
        let isRestored = step != .copied && step != .prepared
        if isRestored, hasLog {
            // The copy is of another service, so its key is restored as well.
            let key = try #require(folder.bytes(of: "fetchd.key"))
            try Data(key).write(to: URL(filePath: left.path("fetchd.key")))
        }
        let store = try left.open()
        #expect(try await store.jobs(JobQuery()).jobs.count == (isRestored ? 2 : former))
        try await store.close()
        let kept = left.folder.files.filter { $0.contains(".replaced-") && !$0.hasSuffix("-wal") }
        #expect(kept.count == (isRestored ? 1 : 0), "\(left.folder.files)")
        for name in kept {
            let replaced = try DatabaseQueue(path: left.path(name))
            #expect(try await replaced.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM jobs") } == former)
        }
    }

    @Test func aRestoreThatLostItsCopyCanBeRepeated() async throws {
        let (folder, copy, copies) = try await stage()
        defer { withExtendedLifetime(copies) {} }
        var mark = try #require(Mark(folder.bytes(of: CrashedFolder.mark) ?? []))
        (mark.state, mark.identity) = (.restoring, "another")
        try Data(mark.bytes).write(to: URL(filePath: folder.path(CrashedFolder.mark)))
        #expect(throws: StoreError.restoreUnfinished(path: folder.path)) { try Store(at: folder.path) }
        #expect(try Restoration.run(copy, into: folder.path).jobs == 2)
        #expect(try await Store(at: folder.path).jobs(JobQuery()).jobs.count == 2)
    }
}
