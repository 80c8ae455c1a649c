import Downloads
import Glibc

/// The folder of one service, held by an exclusive lock for as long as this value lives: two services on one database
/// would both admit the same jobs.
final class DataFolder: Sendable {
    let path: String
    private let lock: Int32

    init(at path: String) throws(StoreError) {
        let fault = FolderPath.make(path, mode: 0o700)
        guard fault == 0 else { throw .folderUnusable(path: path, why: String(cString: strerror(fault))) }
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folderUnusable(path: path, why: String(cString: strerror(errno))) }
        // The kernel drops the lock when the process ends, however it ends.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw .folderInUse(path: path) }
            throw .folderUnusable(path: path, why: String(cString: strerror(code)))
        }
        self.path = path
        lock = descriptor
    }

    var database: String { path + "/fetchd.sqlite" }

    deinit { close(lock) }
}
