import CLinux
import Descriptors
import Glibc
import Locks
import Synchronization

/// Syncs of the whole file system that the parts lie on, and of the folder of parts, and how many of them have failed.
///
/// Linux reports a write error to one syncfs(2), and drops the pages that it could not write: the next call succeeds
/// without them. Bytes that were written and not yet durable when a sync failed are therefore lost, whatever succeeds
/// later (lwn.net/Articles/752063). Of two calls that overlap only one is told of the error, so they follow each other: the
/// failure is noted before the next call begins.
final class FileSystemSyncs: Sendable {
    private let failed = Atomic(0)
    private let turn = Locked(())

    /// How many have failed so far.
    var failures: Int { failed.load(ordering: .sequentiallyConsistent) }

    /// Blocks on the disk.
    ///
    /// - Parameter folder: any folder of the file system.
    func sync(_ folder: Descriptor) throws(DiskError) {
        try inTurn { () throws(DiskError) in
            guard linux_sync_file_system(folder.number) == 0 else {
                throw DiskError("sync the file system of the downloads folder")
            }
        }
    }

    /// Makes the names of the parts durable; blocks on the disk.
    func syncNames(in folder: Descriptor) throws(DiskError) {
        try inTurn { () throws(DiskError) in try folder.sync() }
    }

    private func inTurn(_ sync: () throws(DiskError) -> Void) throws(DiskError) {
        try turn.withLock { _ throws(DiskError) in
            do throws(DiskError) {
                try sync()
            } catch {
                failed.add(1, ordering: .sequentiallyConsistent)
                throw error
            }
        }
    }

    /// Whether syncfs(2) reports write errors at all: since Linux 5.8. Before, only the sync of each file tells them.
    static let reportsErrors: Bool = {
        var name = utsname()
        guard uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (5, 8)
    }()
}
