import CLinux
import Descriptors
import Downloads
import Glibc

/// Whether the folder works: it may be removed, replaced, or become read-only while the service runs.
extension DownloadsFolder {
    /// Looks at the folder and opens it again where it was replaced; blocks on the disk.
    ///
    /// - Parameter byWriting: a file is written, synced, renamed and removed, too.
    /// - Returns: why the folder cannot be used; nil when it can.
    func inspect(byWriting: Bool) -> DiskError? {
        do throws(DiskError) {
            try reopen()
            if byWriting { try probe() } else { try requireWritable() }
            return nil
        } catch {
            return error
        }
    }

    /// Writes a small file as a part is written, moves it to a folder as a finished one is, and removes both.
    func probe() throws(DiskError) {
        let (root, parts, name, folder) = (root, parts, ".probe", ".fetchd-probe")
        let action = "write to the downloads folder"
        let file = try Descriptor.open(name, in: parts, flags: O_RDWR | O_CREAT | O_NOFOLLOW, to: action)
        // A full disk is no fault of the folder: jobs wait for space by themselves.
        if pwrite(file.number, name, name.utf8.count, 0) < 0, errno != ENOSPC, errno != EDQUOT {
            throw DiskError(action)
        }
        guard fdatasync(file.number) == 0, mkdirat(root.number, folder, 0o700) == 0 || errno == EEXIST,
            renameat(parts.number, name, root.number, "\(folder)/\(name)") == 0,
            unlinkat(root.number, "\(folder)/\(name)", 0) == 0, unlinkat(root.number, folder, AT_REMOVEDIR) == 0
        else { throw DiskError(action) }
        try parts.sync()
        try root.sync()
    }

    private func requireWritable() throws(DiskError) {
        guard faccessat(parts.number, ".", W_OK | X_OK, 0) == 0 else {
            throw DiskError("write to the downloads folder")
        }
    }

    /// Opens the folder at this path again, if it is another folder than before.
    private func reopen() throws(DiskError) {
        let (before, found) = (root, try Self.open(path))
        let (old, new) = (try before.status(), try found.status())
        let isSame = old.st_ino == new.st_ino && old.st_dev == new.st_dev
        if isSame, try parts.isChild(FilePathRule.partsDirectory, of: before) { return }
        // An empty folder of another file system is, more likely than not, the mount point of a disk that is missing.
        let parts = try Self.child(
            FilePathRule.partsDirectory, of: found, mode: 0o700, isMade: old.st_dev == new.st_dev)
        handles.withLock { $0 = Handles(root: found, parts: parts) }
    }
}

extension Descriptor {
    /// Whether this open folder is still what has that name.
    fileprivate func isChild(_ name: String, of folder: Descriptor) throws(DiskError) -> Bool {
        let own = try status()
        var found = stat()
        guard fstatat(folder.number, name, &found, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return found.st_ino == own.st_ino && found.st_dev == own.st_dev
    }
}
