import Descriptors
import Glibc

/// The calls that change the names and the lengths of files that other services may have taken over. Each of them looks
/// directly before its first system call whether this service still has its lease. A move can need two calls (`ExclusiveMove`).
///
/// `PartFile.trim` does not look: it releases the space that is reserved behind the bytes of a part of this service.
extension DownloadsFolder {
    /// - Parameter isReplacing: whether a file with the other name is replaced.
    /// - Returns: 0, or the error code; that of `DiskError.leaseLost` if nothing was done.
    func move(_ source: FolderEntry, to target: FolderEntry, isReplacing: Bool = false) -> Int32 {
        guard use.holdsLease() else { return DiskError.leaseLost }
        guard isReplacing else { return exclusiveMove(source, to: target) }
        return renameat(source.folder.number, source.name, target.folder.number, target.name) == 0 ? 0 : errno
    }

    /// - Returns: as `move`.
    func remove(_ entry: FolderEntry) -> Int32 { use.holdsLease() ? entry.remove() : DiskError.leaseLost }

    /// - Returns: as `move`.
    func cut(_ file: Descriptor, to length: Int64) -> Int32 {
        guard use.holdsLease() else { return DiskError.leaseLost }
        return ftruncate(file.number, off_t(length)) == 0 ? 0 : errno
    }
}
