import Glibc

/// The permissions of finished files, and of folders that fetchd creates for them.
public struct FileModes: Sendable, Equatable {
    /// Permissions that a setting states are given exactly; the umask of the process does not apply. nil: all may read and
    /// write, as far as the umask allows.
    private let statedFile: mode_t?
    /// nil: all may read and enter, as far as the umask allows.
    private let statedFolder: mode_t?

    /// - Parameters:
    ///   - file: permission bits of finished files; at least 0600, because fetchd reads and writes them.
    ///   - folder: permission bits of new folders; at least 0700, because fetchd uses them.
    public init(file: UInt32? = nil, folder: UInt32? = nil) {
        (statedFile, statedFolder) = (file, folder)
    }

    /// The exact permissions of a finished file.
    var file: mode_t { statedFile ?? 0o666 & ~Self.mask }

    /// The permissions to create a folder with, from which the kernel subtracts the umask.
    var newFolder: mode_t { statedFolder ?? 0o755 }

    /// The exact permissions of a new folder; nil: those with which the kernel has created it.
    ///
    /// - Parameter found: the mode of the folder. A set-group-ID bit that the folder has inherited from its parent stays.
    func folder(having found: mode_t) -> mode_t? { statedFolder.map { $0 | found & S_ISGID } }

    /// The umask of the process, which can only be read by setting it.
    private static let mask: mode_t = {
        let mask = umask(0o022)
        umask(mask)
        return mask
    }()
}
