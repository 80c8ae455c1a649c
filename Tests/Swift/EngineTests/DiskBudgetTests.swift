import Downloads
import Glibc
import TestKit
import Testing

@testable import Engine

/// What parts may take of a file system that other programs, and the database, need too.
@Suite struct DiskBudgetTests {
    private let gigabyte: Int64 = 1 << 30

    @Test func onePercentAndAtMostOneGibibyteStaysFreeWithoutASetting() {
        let standard = DiskBudget(minimumFreeBytes: nil)
        #expect(standard.room(of: DiskSpace(free: 0, total: 10_000)) == -100)
        #expect(standard.room(of: DiskSpace(free: 0, total: 1000 * gigabyte)) == -gigabyte)
        #expect(DiskBudget(minimumFreeBytes: 7).room(of: DiskSpace(free: 0, total: 10_000)) == -7)
    }

    @Test func aClaimLeavesTheFloorAndWhatOthersNeed() throws {
        let budget = DiskBudget(minimumFreeBytes: 100)
        let space = DiskSpace(free: 1000, total: 10_000)
        try budget.claim(600, for: PartID("a"), of: space)
        #expect(throws: DiskError("reserve 301 bytes", code: ENOSPC)) {
            try budget.claim(301, for: PartID("b"), of: space)
        }
        try budget.claim(300, for: PartID("b"), of: space)
        // What is written or reserved is not free any more, and not claimed twice.
        budget.update(0, of: PartID("a"))
        try budget.claim(100, for: PartID("c"), of: DiskSpace(free: 500, total: 10_000))
        budget.release(PartID("b"))
        try budget.claim(400, for: PartID("c"), of: DiskSpace(free: 500, total: 10_000))
        // A file system that does not say how much is free has room.
        try budget.claim(1 << 40, for: PartID("d"), of: nil)
    }

    @Test func aClaimThatIsReplacedCountsOnce() throws {
        let budget = DiskBudget(minimumFreeBytes: 0)
        let space = DiskSpace(free: 1000, total: 10_000)
        try budget.claim(900, for: PartID("a"), of: space)
        try budget.claim(1000, for: PartID("a"), of: space)
        budget.update(5, of: PartID("unknown"))
        budget.release(PartID("a"))
        try budget.claim(1000, for: PartID("b"), of: space)
    }

    @Test func foldersOnOneFileSystemCountTheirClaimsTogether() throws {
        let (first, second) = (DiskBudget(minimumFreeBytes: 0), DiskBudget(minimumFreeBytes: 100))
        second.share(with: first)
        let space = DiskSpace(free: 1000, total: 10_000, disk: 1)
        try first.claim(600, for: PartID("a"), of: space)
        #expect(throws: DiskError("reserve 301 bytes", code: ENOSPC)) {
            try second.claim(301, for: PartID("b"), of: space)
        }
        try second.claim(300, for: PartID("b"), of: space)
        try second.claim(900, for: PartID("c"), of: DiskSpace(free: 1000, total: 10_000, disk: 2))
        first.release(PartID("a"))
        try second.claim(900, for: PartID("b"), of: space)
    }

    /// 1,000 jobs of 100 MB do not take 100 GB at once: little more than has come is reserved on the disk.
    @Test func aLargePartIsReservedStepByStep() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "")
        try part.claim(1 << 32)
        try Array(repeating: UInt8(1), count: 4096).withUnsafeBytes { try part.write($0, at: 0) }
        let blocks = Int64(try part.file.status().st_blocks) * 512
        #expect((4096...(65 << 20)).contains(blocks))
        try part.trim()
        #expect(Int64(try part.file.status().st_blocks) * 512 < 1 << 20)
    }

    @Test func aPartThatIsGoneGivesItsClaimBack() throws {
        let temporary = try TemporaryFolder()
        let folder = try DownloadsFolder(at: temporary.path, minimumFreeBytes: 0)
        let space = try #require(folder.space)
        do {
            let diskQueue = DiskQueues(count: 1).next()
            let part = PartFile(PartID("a"), digesting: [], diskQueue: diskQueue, in: folder) { () throws(DiskError) in
                try folder.makePart(PartID("a"))
            }
            // Other tests write to the same disk in the meantime.
            try part.claim(space.free / 4 * 3)
            #expect(throws: DiskError.self) { try folder.budget.claim(space.free / 2, for: PartID("b"), of: space) }
        }
        try folder.budget.claim(space.free, for: PartID("b"), of: space)
    }
}
