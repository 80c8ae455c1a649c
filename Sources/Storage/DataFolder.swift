import Glibc

/// The folder of one service, held by an exclusive lock for as long as this value lives: two services on one database
/// would both admit the same jobs.
final class DataFolder: Sendable {
    let path: String
    private let lock: Int32

    init(at path: String) throws(StoreError) {
        let fault = FolderPath.make(path, mode: 0o700)
        guard fault == 0 else { throw .folder(path, fault) }
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        // The kernel drops the lock when the process ends, however it ends.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw .folderInUse(path: path) }
            throw .folder(path, code)
        }
        self.path = path
        lock = descriptor
    }

    var database: String { path + "/fetchd.sqlite" }
    /// SQLite's log of what is not in the database file yet.
    var log: String { database + "-wal" }
    /// What the connections to the database share. It holds nothing that outlives them.
    var index: String { database + "-shm" }
    var mark: String { path + "/fetchd.mark" }

    /// Bytes of a file; nil when there is none.
    func size(of file: String) throws(StoreError) -> Int64? {
        var status = stat()
        if stat(file, &status) == 0 { return Int64(status.st_size) }
        if errno == ENOENT { return nil }
        throw .folder(path, errno)
    }

    /// Whether the file system has no room left to begin with.
    var isFull: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return false }
        let lacksFiles = status.f_files > 0 && status.f_favail == 0
        return lacksFiles || UInt64(status.f_bavail) * UInt64(status.f_frsize) < Self.leastRoom
    }

    /// Bytes: the index takes 32 KiB, and the log as much.
    private static let leastRoom: UInt64 = 128 << 10

    /// Makes the names of new files durable.
    func sync() throws(StoreError) { try sync(file: path) }

    /// Makes what was written to a file durable.
    func sync(file: String) throws(StoreError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .folder(path, errno) }
    }

    func rename(_ file: String, to other: String) throws(StoreError) {
        guard Glibc.rename(file, other) == 0 else { throw .folder(path, errno) }
    }

    /// Lets another service have the folder. A child that was forked just now has the descriptor, too: to close it is not
    /// enough.
    func release() { flock(lock, LOCK_UN) }

    deinit {
        release()
        close(lock)
    }
}
