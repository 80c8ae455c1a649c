import Base
import Downloads
import Glibc
import Storage
import TestKit
import Testing

@testable import Engine

/// The part of another node, in a folder that both use.
@Suite struct PartTakeoverTests {
    private let fixture: MaintenanceFixture
    private let old: Part
    private let job: Job

    init() async throws {
        fixture = try MaintenanceFixture(
            for: FolderUse(by: Node(number: 1, epoch: 2), sharing: .shared, holdsLease: { true }))
        old = try fixture.makePart("part_A-2.1", of: "abcdefgh")
        let id = try await fixture.create()[0]
        try await fixture.admit()
        try await fixture.store.checkpoint([(job: id, admission: 1, part: old)])
        job = try await fixture.job(id)
    }

    private func takeOver(isStopped: @escaping @Sendable () -> Bool = { false }) async -> PartTakeover {
        await fixture.services.takeOverPart(
            of: job, to: fixture.services.locations.main, in: fixture.services.locations.main.diskQueues.next(),
            isStopped: isStopped)
    }

    @Test func continuesInACopyThatIsPromised() async throws {
        guard case .ready(let taken) = await takeOver(), let copy = taken.part else {
            Issue.record("the job has a part")
            return
        }
        #expect(copy.id != old.id)
        #expect(copy.ranges == old.ranges)
        #expect(try await fixture.job(job.id).part?.id == copy.id)
        #expect(try fixture.folder.text(of: copy.id) == "abcde")
        #expect(!fixture.hasFile(of: old))
    }

    @Test func aStoppedTakeoverChangesNothing() async throws {
        guard case .stopped = await takeOver(isStopped: { true }) else {
            Issue.record("the attempt stops")
            return
        }
        #expect(try await fixture.job(job.id).part?.id == old.id)
        #expect(fixture.hasFile(of: old))
        #expect(fixture.temporary.files.filter { $0.hasSuffix(".part") }.count == 1)
    }

    /// The job was deleted or has another part: the copy is removed, and the old file stays.
    @Test func keepsTheOldFileOfAJobThatHasChanged() async throws {
        var other = old
        other.id = PartID("part_B-2.1")
        try await fixture.store.checkpoint([(job: job.id, admission: 1, part: other)])
        guard case .stopped = await takeOver() else {
            Issue.record("the job has another part")
            return
        }
        #expect(fixture.hasFile(of: old))
        #expect(fixture.temporary.files.filter { $0.hasSuffix(".part") }.count == 1)
    }

    @Test func aMissingFileIsLeftToTheRequestPlan() async throws {
        fixture.folder.removePart(old.id)
        guard case .ready(let same) = await takeOver() else {
            Issue.record("the attempt begins from 0")
            return
        }
        #expect(same.part?.id == old.id)
        #expect(throws: DownloadsFolder.PartLoss.missing) { try fixture.folder.openPart(old) }
    }
}

extension DownloadsFolder {
    func text(of id: PartID) throws -> String {
        let file = try Descriptor.openOwn(id.fileName, in: parts, to: "read")
        let size = Int(try file.status().st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(file.number, buffer.baseAddress, size, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
