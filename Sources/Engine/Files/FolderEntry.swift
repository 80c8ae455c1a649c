import Descriptors
import Glibc

/// A name in an open folder.
struct FolderEntry {
    let folder: Descriptor
    let name: String

    init(_ name: String, in folder: Descriptor) { (self.folder, self.name) = (folder, name) }

    /// Whether both names lead to one file. Links are not followed.
    func isSameFile(as other: FolderEntry) -> Bool {
        guard let own = status, let found = other.status else { return false }
        return own.st_ino == found.st_ino && own.st_dev == found.st_dev
    }

    private var status: stat? {
        var status = stat()
        return fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Removes the name.
    ///
    /// - Returns: 0, or the error code.
    func remove() -> Int32 { unlinkat(folder.number, name, 0) == 0 ? 0 : errno }
}
