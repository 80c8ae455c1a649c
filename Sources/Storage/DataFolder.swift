import Glibc

/// The data folder of one service. An exclusive lock on it is held while this value lives: two services on one database
/// would both admit the same jobs.
final class DataFolder: Sendable {
    let files: DataFiles
    private let lock: Int32

    init(at path: String) throws(StoreError) {
        let fault = FolderPath.make(path, mode: 0o700)
        guard fault == 0 else { throw .folder(path, fault) }
        let descriptor = open(DataFiles(path: path).lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        // The kernel releases the lock when the process ends in any way.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw .folderInUse(path: path) }
            throw .folder(path, code)
        }
        files = DataFiles(path: path)
        lock = descriptor
    }

    var path: String { files.path }
    var database: String { files.database }
    var log: String { files.log }
    var index: String { files.index }
    var mark: String { files.mark }

    /// The size of a file in bytes; nil when the file does not exist.
    func size(of file: String) throws(StoreError) -> Int64? {
        var status = stat()
        if stat(file, &status) == 0 { return Int64(status.st_size) }
        if errno == ENOENT { return nil }
        throw .folder(path, errno)
    }

    /// Whether the file system has no space for a new log and index.
    var isFull: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return false }
        let lacksFiles = status.f_files > 0 && status.f_favail == 0
        return lacksFiles || UInt64(status.f_bavail) * UInt64(status.f_frsize) < Self.leastRoom
    }

    /// Bytes. The index takes 32 KiB, and the log about as much.
    private static let leastRoom: UInt64 = 128 << 10

    /// Syncs the folder, so that the names of new files are durable.
    func sync() throws(StoreError) { try sync(file: path) }

    /// Syncs the content of a file.
    func sync(file: String) throws(StoreError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .folder(path, errno) }
    }

    func rename(_ file: String, to other: String) throws(StoreError) {
        guard Glibc.rename(file, other) == 0 else { throw .folder(path, errno) }
    }

    /// The device and the inode of the file with the lock; nil if the system does not tell them.
    var lockFile: String? {
        var status = stat()
        return fstat(lock, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    /// The path without links; the given one if the system does not tell it.
    var absolutePath: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Releases the lock, so that another service can use the folder. Closing the descriptor would not release it while
    /// a forked child still has a copy.
    func release() { flock(lock, LOCK_UN) }

    deinit {
        release()
        close(lock)
    }
}
