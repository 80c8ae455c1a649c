import Downloads
import Foundation
import TestKit
import Testing

@testable import Engine

/// A file system that refuses `RENAME_NOREPLACE`, as NFS does: a file is linked to its place, and never replaces another.
@Suite struct ExclusiveMoveTests {
    private static func refusing(_ code: Int32) -> ExclusiveMove {
        ExclusiveMove { _, _, _, _ in
            errno = code
            return -1
        }
    }

    private static let part = ".incomplete/part_1.part"

    @Test(arguments: [EINVAL, ENOSYS, EOPNOTSUPP], [Destination.Conflict.rename, .error, .replace])
    func aPartBecomesAFileOnce(_ code: Int32, _ conflict: Destination.Conflict) throws {
        let fixture = try FolderFixture(moving: Self.refusing(code))
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "a/f", size: 3, conflict)
        // The repetitions take the file back first.
        for _ in 0..<3 { #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil }) }
        #expect(fixture.text("a/f") == "abc")
        #expect(fixture.temporary.files == ["a/f"])
    }

    @Test func aFileIsNotReplaced() throws {
        let fixture = try FolderFixture(moving: Self.refusing(EINVAL))
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        _ = try fixture.temporary.write("mine", to: "f")
        guard case .nameTaken? = fixture.folder.place([promotion])[0] else {
            Issue.record("an occupied name must not be replaced")
            return
        }
        #expect(fixture.temporary.files == [Self.part, "f"])
        #expect(fixture.text("f") == "mine")
        let renamed = try fixture.folder.renamed(promotion).get()
        #expect(fixture.folder.place([renamed]).allSatisfy { $0 == nil })
        #expect(fixture.text("f (1)") == "abc")
    }

    @Test func anotherErrorIsNoRefusalOfTheFlag() throws {
        let fixture = try FolderFixture(moving: Self.refusing(EIO))
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        guard case .disk(let error)? = fixture.folder.place([promotion])[0] else {
            Issue.record("the disk has failed")
            return
        }
        #expect(error.code == EIO)
        #expect(fixture.temporary.files == [Self.part])
    }

    /// fetchd was killed between the two calls: while it moved the file to its place, or back to the parts.
    @Test(arguments: [Destination.Conflict.rename, .error, .replace], [true, false])
    func aFileWithBothNamesIsRecognised(_ conflict: Destination.Conflict, refusesFlag: Bool) throws {
        let fixture = try FolderFixture(moving: refusesFlag ? Self.refusing(EINVAL) : ExclusiveMove())
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3, conflict)
        #expect(link(fixture.temporary.path(Self.part), fixture.temporary.path("f")) == 0)
        // The next start sweeps the parts before it carries the promotion on.
        #expect(fixture.folder.sweepParts(needed: [promotion.part: 3]).removed == 0)
        #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil })
        #expect(fixture.text("f") == "abc")
        #expect(fixture.temporary.files == ["f"])
    }

    /// An NFS client repeats a request whose answer was lost, and the server then reports the link of the first one.
    @Test func aRepeatedLinkCountsAsDone() throws {
        let fixture = try FolderFixture(
            moving: ExclusiveMove { folder, name, other, target in
                #expect(linkat(folder, name, other, target, 0) == 0)
                errno = EINVAL
                return -1
            })
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil })
        #expect(fixture.temporary.files == ["f"])
    }

    /// The answer to a repeated rename reports that the old name is missing.
    @Test func aRepeatedRenameCountsAsDone() throws {
        let fixture = try FolderFixture(
            moving: ExclusiveMove { folder, name, other, target in
                #expect(renameat(folder, name, other, target) == 0)
                errno = ENOENT
                return -1
            })
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        // The repetition takes the file back first.
        for _ in 0..<2 { #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil }) }
        #expect(fixture.temporary.files == ["f"])
    }
}
