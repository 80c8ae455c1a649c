import Base
import CLinux
import Glibc
import Synchronization

/// Syncs the file system of the parts, or the folder of parts, and counts the failures.
///
/// Linux reports a write error to one syncfs(2) only, and drops the pages that it could not write: the next call
/// succeeds without them. So after a failed sync, all written bytes that were not durable before are lost, also if a
/// later sync succeeds (lwn.net/Articles/752063). Of two overlapping calls only one gets the error. Calls are therefore
/// made one after the other, and a failure is counted before the next call begins.
final class FileSystemSyncs: Sendable {
    private let failed = Atomic(0)
    private let turn = Locked(())

    var failures: Int { failed.load(ordering: .sequentiallyConsistent) }

    /// Syncs the file system. Blocks on the disk.
    func sync(_ folder: Descriptor) throws(DiskError) {
        try inTurn { () throws(DiskError) in
            guard linux_sync_file_system(folder.number) == 0 else {
                throw DiskError("sync the file system of the folder")
            }
        }
    }

    /// Makes the names of the parts durable. Blocks on the disk.
    func syncNames(in folder: Descriptor) throws(DiskError) { try inTurn { () throws(DiskError) in try folder.sync() } }

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

    /// Whether syncfs(2) reports write errors. It does since Linux 5.8; before, only the sync of each file reports
    /// them.
    static let reportsErrors: Bool = {
        var name = utsname()
        guard uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (5, 8)
    }()
}

extension DownloadsFolder {
    /// With more parts than this, one sync of the file system is cheaper than one sync for each file.
    private static let fewParts = 2

    /// Makes the written bytes and the names of new parts durable, so that their offsets can be stored. Blocks on the
    /// disk.
    func syncForCheckpoint(_ files: [PartFile]) -> [DiskError?] {
        let new = files.filter { !$0.isNameDurable }
        if !new.isEmpty {
            if let error = DiskError.of({ () throws(DiskError) in try syncs.syncNames(in: parts) }) {
                for file in new { file.fail(error) }
            } else {
                for file in new { file.recordNameDurable() }
            }
        }
        return sync(files)
    }

    /// Gives complete parts the permissions of finished files, and makes them durable together with their bytes. Blocks
    /// on the disk.
    func publish(_ files: [PartFile]) -> [DiskError?] {
        let errors = files.map { DiskError.of($0.publish) }
        return zip(errors, sync(files)).map { $0 ?? $1 }
    }

    /// Makes the written bytes durable. Blocks on the disk.
    ///
    /// - Returns: the error of each part, in order; nil when the part is durable.
    func sync(_ files: [PartFile]) -> [DiskError?] {
        // With a folder of incomplete files, the parts can be on two file systems.
        if files.count <= Self.fewParts || !FileSystemSyncs.reportsErrors || incompletePath != nil {
            return files.map { DiskError.of($0.sync) }
        }
        let written = files.map(\.written)
        if let error = DiskError.of({ () throws(DiskError) in try syncs.sync(parts) }) {
            for file in files { file.fail(error) }
            return files.map { _ in error }
        }
        return zip(files, written).map { file, bytes in
            DiskError.of { () throws(DiskError) in try file.recordDurable(bytes) }
        }
    }
}
