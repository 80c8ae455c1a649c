import Glibc

/// The file of a backup before the backup is complete. It gets its final name in one step, so that a kill at any moment
/// leaves the former file or the new one.
final class BackupDraft {
    let path: String
    private let file: String
    private let descriptor: Int32
    private var isPlaced = false

    /// Creates `FILE.partial`, or takes it over from a backup that was interrupted.
    ///
    /// - Throws: `backupFailed`.
    init(for file: String) throws(StoreError) {
        self.file = file
        path = file + ".partial"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            isPlaced = true
            throw .backup(file, code)
        }
        do throws(StoreError) { try claim() } catch {
            // The file belongs to another process, or is no file of a backup.
            isPlaced = true
            throw error
        }
    }

    private func claim() throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .backup(file, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .backupFailed(path: file, why: "\(path) exists and is no file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .backupFailed(path: file, why: "another process writes \(path)")
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else { throw .backup(file, errno) }
    }

    /// Makes a copy of a database in WAL mode an ordinary file, which can be read without write access. The caller has
    /// closed its connections to the draft.
    func leaveWALMode() throws(StoreError) {
        // The versions for writing and reading of the file format (sqlite.org/fileformat2.html, section 1.3.3).
        guard pwrite(descriptor, [UInt8](arrayLiteral: 1, 1), 2, 18) == 2 else { throw .backup(file, errno) }
    }

    /// The size in bytes.
    var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Syncs the file and gives it its name.
    ///
    /// - Throws: `backupFailed`, also if the name is taken and `replacing` is false.
    func place(replacing: Bool) throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw .backup(file, errno) }
        if replacing { try rename() } else { try link() }
        isPlaced = true
        let parent = FolderPath.parent(of: file)
        let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .backup(file, errno) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .backup(file, errno) }
    }

    private func rename() throws(StoreError) {
        guard Glibc.rename(path, file) == 0 else { throw .backup(file, errno) }
    }

    /// Unlike rename(2), link(2) never replaces a file.
    private func link() throws(StoreError) {
        if Glibc.link(path, file) == 0 {
            unlink(path)
            return
        }
        let code = errno
        guard code != EEXIST, access(file, F_OK) != 0 else { throw .backupExists(file) }
        // The file system has no links.
        guard code == EPERM || code == EOPNOTSUPP || code == ENOSYS else { throw .backup(file, code) }
        try rename()
    }

    deinit {
        if !isPlaced { unlink(path) }
        close(descriptor)
    }
}

extension StoreError {
    /// The error of a system call on a backup.
    static func backup(_ file: String, _ code: Int32) -> StoreError {
        .backupFailed(path: file, why: String(cString: strerror(code)))
    }

    static func backupExists(_ file: String) -> StoreError {
        .backupFailed(path: file, why: "the file exists. Use another name, or --force to replace it")
    }
}
