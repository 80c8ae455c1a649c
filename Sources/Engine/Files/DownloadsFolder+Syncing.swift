import CLinux
import Downloads
import Glibc

/// Syncing several parts at once.
extension DownloadsFolder {
    /// Parts beyond which one sync of the file system is cheaper than one for each file.
    private static let fewParts = 2

    /// Makes what is written durable; blocks on the disk.
    ///
    /// - Returns: for each part, in order, what went wrong with it; nil when it is durable.
    func sync(_ files: [PartFile]) -> [DiskError?] {
        if files.count <= Self.fewParts { return files.map(syncOne) }
        let written = files.map(\.written)
        guard linux_sync_file_system(parts.number) == 0 else {
            return files.map { _ in DiskError("sync the file system of the downloads folder") }
        }
        for (file, bytes) in zip(files, written) { file.noteDurable(bytes) }
        return files.map { _ in nil }
    }

    private func syncOne(_ file: PartFile) -> DiskError? {
        do throws(DiskError) {
            try file.sync()
            return nil
        } catch {
            return error
        }
    }
}
