import Base
import Downloads
import Foundation
import Synchronization
import TestKit
import Testing

@testable import Engine

/// Another program replaces names while files are promoted, as fast as it can. Nothing outside the folder changes, and no
/// file is lost or doubled.
@Suite struct SwapperTests {
    enum Swap: String, CaseIterable {
        /// A component of the path becomes a link to a folder outside, and a folder again.
        case folderAndLink
        /// The folder is moved out of the downloads folder, and back.
        case folderAndAbroad
        /// The part becomes a link to a file outside, and a part again.
        case partAndLink
        /// The part becomes another name of a file outside, and a part again.
        case partAndHardLink
        /// The destination becomes a link to a file outside, and vanishes.
        case destinationAndLink
    }

    private static let rounds = 200

    /// Runs `body` while a thread makes the swap again and again. The names are as before at the end.
    private func whileSwapping(_ swap: @escaping @Sendable () -> Void, _ body: () -> Void) async {
        let (isOver, ended) = (Locked(false), Latch())
        #expect(
            DetachedThread.start(named: "swapper") {
                while !isOver.withLock({ $0 }) { swap() }
                ended.open()
            } == 0)
        body()
        isOver.withLock { $0 = true }
        await ended.wait()
    }

    private static func swap(_ kind: Swap, _ path: String, outside: OutsideFolder, abroad: String) {
        let (folder, away, part) = (path + "/a/b", path + "/a/away", path + "/.incomplete/part.part")
        switch kind {
        case .folderAndLink:
            rename(folder, away)
            symlink(outside.path, folder)
            unlink(folder)
            rename(away, folder)
        case .folderAndAbroad:
            rename(folder, abroad)
            symlink(outside.path, folder)
            unlink(folder)
            rename(abroad, folder)
        case .partAndLink, .partAndHardLink:
            rename(part, part + ".away")
            if kind == .partAndLink { symlink(outside.file, part) } else { link(outside.file, part) }
            unlink(part)
            rename(part + ".away", part)
        case .destinationAndLink:
            symlink(outside.file, folder + "/f")
            var status = stat()
            if lstat(folder + "/f", &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(folder + "/f") }
        }
    }

    @Test(arguments: Swap.allCases, [Destination.Conflict.rename, .replace])
    func nothingOutsideChanges(_ kind: Swap, _ conflict: Destination.Conflict) async throws {
        let (fixture, outside, elsewhere) = (try FolderFixture(), try OutsideFolder(), try TemporaryFolder())
        let (path, abroad) = (fixture.temporary.path, elsewhere.path("b"))
        var placed = 0
        for round in 0..<Self.rounds {
            try Self.prepare(path, abroad)
            let part = try fixture.part("part", "abc")
            let promotion = try fixture.promotion(of: part, to: "a/b/f", size: 3, conflict)
            var fault: FinalizeFault?
            await whileSwapping({ Self.swap(kind, path, outside: outside, abroad: abroad) }) {
                fault = fixture.folder.place([promotion])[0]
            }
            #expect(outside.isUntouched, "\(round)")
            let inode = try part.mark().inode
            let found = (Self.inodes(below: path) + Self.inodes(below: elsewhere.path)).count { $0 == inode }
            #expect(found <= 1, "\(round)")
            // The other swappers also remove the names that they have made, and may meet the file under them.
            if kind == .folderAndLink || kind == .folderAndAbroad { #expect(found == 1, "\(round)") }
            if fault == nil { placed += 1 }
        }
        // A swapper that prevents everything would show nothing.
        #expect(placed > 0)
    }

    private static func inodes(below path: String) -> [UInt64] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return names.compactMap { name in
            var status = stat()
            guard lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return UInt64(status.st_ino)
        }
    }

    private static func prepare(_ path: String, _ abroad: String) throws {
        for folder in [path + "/a", abroad] { try? FileManager.default.removeItem(atPath: folder) }
        let parts = path + "/.incomplete"
        for name in try FileManager.default.contentsOfDirectory(atPath: parts) { unlink(parts + "/" + name) }
        try FileManager.default.createDirectory(atPath: path + "/a/b", withIntermediateDirectories: true)
    }
}
