import Foundation

/// The folder of one service, held by an exclusive lock for as long as this value lives: two services on one database
/// would both admit the same jobs.
final class DataFolder: Sendable {
    let path: String
    private let lock: Int32

    init(at path: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .folderUnusable(path: path, why: error.localizedDescription)
        }
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
