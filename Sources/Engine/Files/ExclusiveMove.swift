import CLinux
import Glibc

/// Moves a file to another name, and never replaces a file.
///
/// Some file systems, such as NFS, refuse the flag `RENAME_NOREPLACE`. There the file gets its new name with `link`, which
/// never replaces a file, and then loses its old name. If fetchd dies between both calls, the file has both names:
/// `DownloadsFolder.place` recognises that.
struct ExclusiveMove: Sendable {
    /// The system call that renames without replacing. It returns 0, or -1 and sets `errno`.
    var rename: @Sendable (Int32, String, Int32, String) -> Int32 = { linux_rename_noreplace($0, $1, $2, $3) }

    /// - Returns: 0, or the error code.
    func callAsFunction(_ source: FolderEntry, to target: FolderEntry) -> Int32 {
        let result = rename(source.folder.number, source.name, target.folder.number, target.name)
        let code = result == 0 ? 0 : errno
        return [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) ? link(source, target) : code
    }

    private func link(_ source: FolderEntry, _ target: FolderEntry) -> Int32 {
        let result = linkat(source.folder.number, source.name, target.folder.number, target.name, 0)
        let code = result == 0 ? 0 : errno
        // An NFS client repeats a request whose answer was lost. The answer to the repetition reports its own link.
        guard code == 0 || code == EEXIST && source.isSameFile(as: target) else { return code }
        // Another program may have given the old name to another file meanwhile, which stays.
        guard source.isSameFile(as: target) else { return 0 }
        let removal = source.remove()
        return removal == ENOENT ? 0 : removal
    }
}
