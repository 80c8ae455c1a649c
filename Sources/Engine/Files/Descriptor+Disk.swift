import CLinux
import Descriptors
import Downloads
import Glibc

/// The operations on open files and folders. Their errors are thrown as `DiskError`.
extension Descriptor {
    /// - Throws: `DiskError` with the error code of `openat`.
    static func open(
        _ path: String, in folder: Descriptor? = nil, flags: Int32, mode: mode_t = 0o600, to action: String
    ) throws(DiskError) -> Descriptor {
        let number = openat(folder?.number ?? AT_FDCWD, path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw DiskError(action) }
        return Descriptor(owning: number)
    }

    func status() throws(DiskError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw DiskError("look at an open file") }
        return status
    }

    /// - Parameter status: the status of this descriptor, which the caller has read already.
    func mark(_ status: stat) -> FileMark {
        let born = linux_birth_time(number)
        let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        return FileMark(inode: UInt64(status.st_ino), born: born == 0 ? nil : born, modified: modified)
    }

    /// Writes all bytes, from the offset `start` on.
    func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(DiskError) {
        var offset = start
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = pwrite(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw DiskError("write the part") }
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
    }

    /// Flushes the data, and the metadata that is needed to read it back.
    func syncData() throws(DiskError) {
        guard fdatasync(number) == 0 else { throw DiskError("sync the part") }
    }

    /// Flushes the data and all metadata, such as the permissions.
    func syncAll() throws(DiskError) {
        guard fsync(number) == 0 else { throw DiskError("sync the part") }
    }

    func setMode(_ mode: mode_t) throws(DiskError) {
        guard fchmod(number, mode) == 0 else { throw DiskError("set the permissions") }
    }

    /// Opens a file that only fetchd may have made: a regular file with one name. A link to another file, or another
    /// name of it, would let fetchd change a file outside the downloads folder.
    static func openOwn(_ name: String, in folder: Descriptor, to action: String) throws(DiskError) -> Descriptor {
        let file = try open(name, in: folder, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK, to: action)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw DiskError("\(action), which is not a file of fetchd", code: ESTALE)
        }
        return file
    }

    /// Flushes a folder's entries.
    func sync() throws(DiskError) {
        guard fsync(number) == 0 else { throw DiskError("sync a folder") }
    }
}
