import Downloads
import Foundation
import TestKit
import Testing

@testable import Engine
@testable import Storage

@Suite struct SpaceReclaimerTests {
    /// Fills the database with 20 MiB of events and deletes them.
    private func fill(_ fixture: MaintenanceFixture) async throws {
        try await fixture.store.writer.write { transaction in
            try transaction.run("CREATE TABLE filling (text TEXT NOT NULL)")
            for _ in 0..<20 { try transaction.run("INSERT INTO filling VALUES (hex(zeroblob(524288)))") }
        }
        try await fixture.store.writer.write { try $0.run("DROP TABLE filling") }
    }

    @Test func makesAMostlyFreeFileSmaller() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.create(3)
        try await fill(fixture)
        let before = try #require(try await fixture.store.space())
        #expect(before.isMostlyFree)
        try await fixture.services.reclaimSpace()
        let after = try #require(try await fixture.store.space())
        #expect(after.size < before.size / 4 && after.free == 0)
        #expect(fixture.log.text.contains("The database file has become smaller"))
        let file = try #require(fixture.temporary.bytes(of: "data/fetchd.sqlite"))
        #expect(Int64(file.count) == after.size)
        // The store continues.
        try await fixture.create()
        #expect(try await fixture.states() == [.queued: 4])
        try await fixture.store.close()
    }

    @Test func leavesAFileWithMuchDataAsItIs() async throws {
        let fixture = try MaintenanceFixture()
        try await fill(fixture)
        let before = try #require(try await fixture.store.space())
        #expect(try await fixture.store.reclaimSpace(copyingAtMost: before.used - 1) == nil)
        #expect(try await fixture.store.space() == before)
    }

    @Test(arguments: [
        (32, 16, true), (32, 15, false), (100, 49, false), (100, 50, true), (15, 15, false), (1000, 900, true),
    ])
    func isMostlyFreeFromHalfOfTheFile(_ size: Int64, _ free: Int64, _ isMostlyFree: Bool) {
        #expect(DatabaseSpace(size: size << 20, free: free << 20).isMostlyFree == isMostlyFree)
    }
}
