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
