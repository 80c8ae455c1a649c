import Downloads
import Foundation
import TestKit
import Testing

@testable import Engine

/// Each step of a promotion can be repeated, and none ever overwrites what it should not.
@Suite struct PromotionTests {
    @Test func aPartBecomesAFileOnce() throws {
        let fixture = try FolderFixture()
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "a/b/f", size: 3)
        #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil })
        #expect(fixture.text("a/b/f") == "abc")
        // Killed between the rename and the commit: carried on, it is done already.
        #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil })
        #expect(fixture.text("a/b/f") == "abc")
    }

    @Test func aNameThatWasTakenMeanwhileIsPlannedAgain() throws {
        let fixture = try FolderFixture()
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f.txt", size: 3)
        _ = try fixture.temporary.write("mine", to: "f.txt")
        guard case .nameTaken? = fixture.folder.place([promotion]).first.flatMap({ $0 }) else {
            Issue.record("an occupied name must not be replaced")
            return
        }
        let renamed = try fixture.folder.renamed(promotion).get()
        #expect(renamed.file.path == "f (1).txt")
        #expect(fixture.folder.place([renamed]).allSatisfy { $0 == nil })
        #expect(fixture.text("f.txt") == "mine")
        #expect(fixture.text("f (1).txt") == "abc")
    }

    @Test func replaceAndError() throws {
        let fixture = try FolderFixture()
        _ = try fixture.temporary.write("old", to: "f")
        let refused = try fixture.promotion(of: fixture.part("part_1", "new"), to: "f", size: 3, .error)
        guard case .occupied("f")? = fixture.folder.place([refused]).first.flatMap({ $0 }) else {
            Issue.record("an error was asked for")
            return
        }
        var replacing = refused
        replacing.conflict = .replace
        #expect(fixture.folder.place([replacing]).allSatisfy { $0 == nil })
        #expect(fixture.text("f") == "new")
    }

    @Test func aFolderIsNeverReplaced() throws {
        let fixture = try FolderFixture()
        try FileManager.default.createDirectory(
            atPath: fixture.temporary.path("f"), withIntermediateDirectories: false)
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3, .replace)
        guard case .invalid? = fixture.folder.place([promotion]).first.flatMap({ $0 }) else {
            Issue.record("a folder must not be replaced by a file")
            return
        }
    }

    @Test func aVanishedPartIsNotTakenForAnotherFile() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        let promotion = try fixture.promotion(of: part, to: "f", size: 3)
        fixture.folder.removePart(part.id)
        _ = try fixture.temporary.write("xyz", to: "f")
        guard case .vanished? = fixture.folder.place([promotion]).first.flatMap({ $0 }) else {
            Issue.record("a stranger's file of the same size is not the part")
            return
        }
        #expect(fixture.text("f") == "xyz")
    }

    /// Cut and written again, replaced by another file, by a link, by a folder.
    @Test(arguments: ["written", "cut", "replaced", "link", "folder"])
    func aPartThatAnotherProgramHasChangedIsNotPromoted(_ what: String) throws {
        let fixture = try FolderFixture()
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        let path = fixture.temporary.path(".incomplete/part_1.part")
        switch what {
        case "written": try Data("xyz".utf8).write(to: URL(filePath: path), options: [])
        case "cut": #expect(truncate(path, 1) == 0)
        case "replaced":
            _ = try fixture.temporary.write("xyz", to: "other")
            #expect(rename(fixture.temporary.path("other"), path) == 0)
        case "link":
            _ = try fixture.temporary.write("xyz", to: "other")
            #expect(unlink(path) == 0)
            #expect(symlink(fixture.temporary.path("other"), path) == 0)
        default:
            #expect(unlink(path) == 0)
            #expect(mkdir(path, 0o700) == 0)
        }
        guard case .changed? = fixture.folder.place([promotion]).first.flatMap({ $0 }) else {
            Issue.record("what is not the verified part must not be promoted")
            return
        }
        #expect(fixture.text("f") == nil)
    }

    /// The setting may have changed since the part was synced.
    @Test(arguments: [nil, 0o640, 0o777] as [UInt32?]) func aPromotionThatIsCarriedOnSetsThePermissions(
        _ mode: UInt32?
    ) throws {
        let fixture = try FolderFixture(modes: FileModes(file: mode))
        let part = try fixture.part("part_1", "abc")
        let promotion = try fixture.promotion(of: part, to: "f", size: 3)
        #expect(try part.file.status().st_mode & 0o777 == 0o600)
        #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil })
        #expect(try part.file.status().st_mode & 0o777 == FileModes(file: mode).file)
    }

    /// A rename whose folder could not be synced is done once more: the folder changes again, and only then it is synced.
    @Test(arguments: [Destination.Conflict.rename, .replace, .error])
    func aPlacedFileIsTakenBackAndPlacedAgain(_ conflict: Destination.Conflict) throws {
        let fixture = try FolderFixture()
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "a/f", size: 3, conflict)
        for _ in 0..<3 { #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil }) }
        #expect(fixture.text("a/f") == "abc")
        #expect(fixture.temporary.files == ["a/f"])
    }

    @Test func linksAreNotFollowed() throws {
        let fixture = try FolderFixture()
        let outside = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: fixture.temporary.path("link"), withDestinationPath: outside.path)
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "link/f", size: 3)
        guard case .invalid? = fixture.folder.place([promotion]).first.flatMap({ $0 }) else {
            Issue.record("the way out must be closed")
            return
        }
        #expect(outside.files.isEmpty)
        #expect(fixture.folder.openFile(FinishedFile(path: "link/f", size: 1, sha256: nil, contentType: nil)) == nil)
    }
}
