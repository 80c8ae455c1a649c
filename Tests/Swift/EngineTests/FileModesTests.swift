import Foundation
import TestKit
import Testing

@testable import Engine

@Suite struct FileModesTests {
    @Test func statedPermissionsAreExact() {
        let modes = FileModes(file: 0o640, folder: 0o750)
        #expect(modes.file == 0o640)
        #expect(modes.newFolder == 0o750)
        #expect(modes.folder(having: 0o040_700) == 0o750)
        // The group of new files is inherited through this bit.
        #expect(modes.folder(having: 0o042_700) == 0o2750)
    }

    @Test func withoutThemTheUmaskApplies() {
        let mask = umask(0o022)
        umask(mask)
        #expect(FileModes().file == 0o666 & ~mask)
        #expect(FileModes().folder(having: 0o040_700) == nil)
    }

    @Test func newFoldersGetThePermissionsAndOldOnesKeepTheirs() throws {
        let fixture = try FolderFixture(modes: FileModes(file: 0o604, folder: 0o707))
        #expect(mkdir(fixture.temporary.path("old"), 0o711) == 0)
        #expect(chmod(fixture.temporary.path("old"), 0o711) == 0)
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "old/new/inner/f", size: 3)
        #expect(fixture.folder.place([promotion]).allSatisfy { $0 == nil })
        let modes = ["old", "old/new", "old/new/inner", "old/new/inner/f", ".incomplete"].map { name in
            var status = stat()
            return lstat(fixture.temporary.path(name), &status) == 0 ? status.st_mode & 0o7777 : 0
        }
        #expect(modes == [0o711, 0o707, 0o707, 0o604, 0o700])
    }

    /// A complete part has its final permissions before it is synced for the last time.
    @Test(arguments: [1, 5]) func publishedPartsAreDurable(_ count: Int) throws {
        let fixture = try FolderFixture(modes: FileModes(file: 0o644))
        let parts = try (0..<count).map { try fixture.part("part_\($0)", "abc") }
        #expect(fixture.folder.publish(parts).allSatisfy { $0 == nil })
        for part in parts {
            #expect(part.durable.count == 3)
            #expect(try part.file.status().st_mode & 0o7777 == 0o644)
        }
    }
}
