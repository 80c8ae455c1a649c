import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

/// Tests the files of the data folder after the store has opened and closed.
@Suite(.onSQLite) struct ClosingTests {
    /// The number of jobs in a copy of the database file without its log.
    private func jobsOfTheFileAlone(_ folder: TemporaryFolder) throws -> Int? {
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path("fetchd.sqlite"), toPath: copy.path("fetchd.sqlite"))
        return try DatabaseQueue(path: copy.path("fetchd.sqlite")).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM jobs")
        }
    }

    @Test func closingLeavesOneCompleteDatabaseFile() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.create(7)
        // Opens a reading connection as well.
        #expect(try await fixture.store.jobs(JobQuery()).jobs.count == 7)
        try await fixture.store.close()
        #expect(!fixture.folder.files.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
        #expect(try jobsOfTheFileAlone(fixture.folder) == 7)
    }

    @Test func openingPutsEveryTableIntoTheDatabaseFile() throws {
        let fixture = try StoreFixture()
        #expect(try jobsOfTheFileAlone(fixture.folder) == 0)
        #expect(fixture.folder.bytes(of: "fetchd.sqlite-wal")?.isEmpty ?? true)
    }

    /// Another process reads from the log, so it must stay.
    @Test func closingReportsAReaderThatPreventsTheCheckpoint() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.create(1)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: fixture.folder.path("fetchd.sqlite"), configuration: configuration)
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN; SELECT count(*) FROM jobs")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM jobs")
        }
        _ = try await fixture.create(1)
        await #expect { try await fixture.store.close() } throws: { error in
            guard case .notClosed? = error as? StoreError else { return false }
            return "\(error)".contains("fetchd.sqlite-wal")
        }
        try reader.inDatabase { try $0.execute(sql: "COMMIT") }
        try reader.close()
    }
}
