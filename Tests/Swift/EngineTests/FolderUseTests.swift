import Downloads
import Foundation
import HTTPSemantics
import Synchronization
import TestKit
import Testing

@testable import Engine

/// Which part files a node uses, and what it does without its lease.
@Suite struct FolderUseTests {
    private static let own = "part_A-1.2"
    private static let before = "part_B-1.1"
    private static let foreign = "part_C-2.1"
    private static let older = "part_D"

    private static func use(
        _ sharing: FolderSharing, firstNode: Int64? = 1, holdsLease: @escaping @Sendable () -> Bool = { true }
    ) -> FolderUse {
        FolderUse(
            by: Node(number: 1, epoch: 2), sharing: sharing, holdsLease: holdsLease, firstNode: { firstNode })
    }

    @Test(arguments: [
        (own, FolderUse.Holder.own, FolderUse.Holder.own), (before, .own, .own), (foreign, .elsewhere, .foreign),
        (older, .own, .foreign),
    ])
    func writesToItsOwnPartsOnly(_ part: String, _ local: FolderUse.Holder, _ shared: FolderUse.Holder) {
        #expect(Self.use(.local).holder(of: PartID(part)) == local)
        #expect(Self.use(.shared).holder(of: PartID(part)) == shared)
        #expect(FolderUse.alone.holder(of: PartID(part)) == .own)
    }

    /// A part without an owner belongs to the first node. Its number need not be 1.
    @Test(arguments: [2, nil] as [Int64?]) func leavesOlderPartsToTheFirstNode(_ firstNode: Int64?) {
        let use = Self.use(.local, firstNode: firstNode)
        #expect(use.holder(of: PartID(Self.older)) == .elsewhere)
        #expect(!use.sweeps(PartID(Self.older)))
        #expect(use.holder(of: PartID(Self.own)) == .own)
    }

    @Test func sweepsItsOwnPartsOnly() throws {
        let all = [Self.own, Self.before, Self.foreign, Self.older]
        for (use, swept) in [
            (Self.use(.local), [Self.own, Self.before, Self.older]), (Self.use(.shared), [Self.own, Self.before]),
            (FolderUse.alone, [Self.older]),
        ] {
            let fixture = try FolderFixture(for: use)
            for name in all { _ = try fixture.part(name, "abcdef") }
            #expect(fixture.folder.sweepParts(needed: [:]).removed == swept.count)
            let left = Set(all).subtracting(swept).map { ".incomplete/\($0).part" }.sorted()
            #expect(fixture.temporary.files == left)
        }
    }

    @Test func doesNotCutThePartsOfOthers() throws {
        let fixture = try FolderFixture(for: Self.use(.shared))
        for name in [Self.own, Self.foreign] { _ = try fixture.part(name, "abcdef") }
        let promised = [PartID(Self.own): Int64(2), PartID(Self.foreign): Int64(2)]
        #expect(fixture.folder.sweepParts(needed: promised).truncated == 1)
        #expect(fixture.text(".incomplete/\(Self.foreign).part") == "abcdef")
    }

    /// Nodes 2 and 9 were forgotten, and node 5 has become a node after the files were found.
    @Test func sweepsThePartsOfForgottenNodesInASharedFolder() throws {
        let (promised, living, newest, new) = ("part_E-2.1", "part_F-4.1", "part_H-9.1", "part_G-5.1")
        let all = [Self.own, Self.foreign, Self.older, promised, living, newest]
        let shared = [Self.foreign, newest]
        for (sharing, swept) in [(.shared, shared), (.local, [Self.older])] as [(FolderSharing, [String])] {
            let fixture = try FolderFixture(for: Self.use(sharing))
            for name in all { _ = try fixture.part(name, "abcdef") }
            let found = fixture.folder.partFiles()
            _ = try fixture.part(new, "abcdef")
            let offsets = [PartID(Self.own): Int64(6), PartID(promised): Int64(2)]
            let counts = fixture.folder.sweepParts(found, needed: offsets, owners: [1, 4])
            #expect(counts.removed == swept.count && counts.truncated == 0)
            let left = Set(all + [new]).subtracting(swept).map { ".incomplete/\($0).part" }.sorted()
            #expect(fixture.temporary.files == left)
        }
    }

    /// Two nodes inspect a shared folder at the same time.
    @Test func probesWithFilesOfItsOwn() throws {
        let fixture = try FolderFixture(for: Self.use(.shared))
        _ = try fixture.temporary.write("of node 2", to: ".incomplete/.probe-2")
        #expect(fixture.folder.inspect(byWriting: true) == nil)
        #expect(fixture.temporary.files == [".incomplete/.probe-2"])
    }

    // MARK: Without the lease

    /// A folder whose node loses its lease.
    private struct Losing {
        let holds = Flag()
        let fixture: FolderFixture

        init() throws {
            fixture = try FolderFixture(for: FolderUseTests.use(.shared) { [holds] in holds.isSet })
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(true)
        var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
        func clear() { value.store(false, ordering: .sequentiallyConsistent) }
    }

    @Test(arguments: [Destination.Conflict.rename, .error, .replace])
    func movesNoFileWithoutTheLease(_ conflict: Destination.Conflict) throws {
        let losing = try Losing()
        let promotion = try losing.fixture.promotion(
            of: losing.fixture.part(Self.own, "abc"), to: "f", size: 3, conflict)
        losing.holds.clear()
        guard case .disk(let error)? = losing.fixture.folder.place([promotion])[0] else {
            Issue.record("the lease is lost")
            return
        }
        #expect(error.isLeaseLost)
        #expect(error.failure.message.contains("has lost its lease"), "\(error.failure.message)")
        #expect(losing.fixture.temporary.files == [".incomplete/\(Self.own).part"])
    }

    @Test func removesAndCutsNoFileWithoutTheLease() throws {
        let losing = try Losing()
        let (fixture, id) = (losing.fixture, PartID(Self.own))
        let part = try fixture.part(Self.own, "abcdef")
        _ = try fixture.temporary.write("done", to: "f")
        losing.holds.clear()
        fixture.folder.removePart(id)
        #expect(fixture.folder.sweepParts(needed: [:]).truncated == 0)
        #expect(fixture.folder.sweepParts(needed: [id: 2]).truncated == 0)
        let promised = Part(
            id: id, url: "", validators: Validators(), size: nil, ranges: ByteRanges(prefix: 2))
        #expect(throws: DownloadsFolder.PartLoss.leaseLost) { try fixture.folder.openPart(promised) }
        #expect(throws: DiskError.self) {
            try fixture.folder.removeFile(FinishedFile(path: "f", size: 4, sha256: nil, contentType: nil))
        }
        #expect(fixture.text(".incomplete/\(Self.own).part") == "abcdef")
        #expect(fixture.text("f") == "done")
        _ = part
    }

    // MARK: Copies

    @Test func copiesThePromisedRangesOfAForeignPart() throws {
        let fixture = try FolderFixture(for: Self.use(.shared))
        _ = try fixture.part(Self.foreign, "abcdefghij")
        let ranges = try #require(ByteRanges(pairs: [[0, 3], [5, 8]]))
        let part = Part(id: PartID(Self.foreign), url: "", validators: Validators(), size: 20, ranges: ranges)
        let copying = try fixture.folder.beginCopy(of: part, in: fixture.folder, to: PartID(Self.own))
        #expect(copying.pieces == [0..<3, 5..<8])
        for piece in copying.pieces { try fixture.folder.copy(piece, of: copying) }
        try fixture.folder.finish(copying)
        #expect(fixture.text(".incomplete/\(Self.own).part") == "abc\0\0fgh")
        #expect(fixture.text(".incomplete/\(Self.foreign).part") == "abcdefghij")
    }

    @Test func aPartThatHasLostBytesIsNotCopied() throws {
        let fixture = try FolderFixture(for: Self.use(.shared))
        _ = try fixture.part(Self.foreign, "abc")
        var part = Part(
            id: PartID(Self.foreign), url: "", validators: Validators(), size: nil, ranges: ByteRanges(prefix: 3))
        part.ranges = ByteRanges(prefix: 4)
        #expect(throws: DownloadsFolder.PartLoss.shorterThanRecorded) {
            try fixture.folder.beginCopy(of: part, in: fixture.folder, to: PartID(Self.own))
        }
        part.id = PartID("part_E-2.1")
        #expect(throws: DownloadsFolder.PartLoss.missing) {
            try fixture.folder.beginCopy(of: part, in: fixture.folder, to: PartID(Self.own))
        }
        #expect(fixture.temporary.files == [".incomplete/\(Self.foreign).part"])
    }
}
