import CLinux
import Glibc

/// Syncs several parts at once.
extension DownloadsFolder {
    /// With more parts than this, one sync of the file system is cheaper than one sync for each file.
    private static let fewParts = 2

    /// Makes the written bytes and the names of new parts durable, so that their offsets can be promised. Blocks on the
    /// disk.
    ///
    /// - Returns: the error of each part, in order; nil when the part is durable.
    func syncForPromise(_ files: [PartFile]) -> [DiskError?] {
        let new = files.filter { !$0.isNameDurable }
        if !new.isEmpty {
            if let error = fault({ () throws(DiskError) in try syncs.syncNames(in: parts) }) {
                for file in new { file.fail(error) }
            } else {
                for file in new { file.noteNameDurable() }
            }
        }
        return sync(files)
    }

    /// Gives complete parts the permissions of finished files, and makes them durable together with their bytes. Blocks
    /// on the disk.
    ///
    /// - Returns: the error of each part, in order; nil when the part is durable.
    func publish(_ files: [PartFile]) -> [DiskError?] {
        let faults = files.map { file in fault { () throws(DiskError) in try file.publish() } }
        return zip(faults, sync(files)).map { $0 ?? $1 }
    }

    /// Makes the written bytes durable. Blocks on the disk.
    ///
    /// - Returns: the error of each part, in order; nil when the part is durable.
    func sync(_ files: [PartFile]) -> [DiskError?] {
        if files.count <= Self.fewParts || !FileSystemSyncs.reportsErrors {
            return files.map { file in fault { () throws(DiskError) in try file.sync() } }
        }
        let written = files.map(\.written)
        if let error = fault({ () throws(DiskError) in try syncs.sync(parts) }) {
            for file in files { file.fail(error) }
            return files.map { _ in error }
        }
        return zip(files, written).map { file, bytes in fault { () throws(DiskError) in try file.noteDurable(bytes) } }
    }

    private func fault(_ body: () throws(DiskError) -> Void) -> DiskError? {
        do throws(DiskError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
