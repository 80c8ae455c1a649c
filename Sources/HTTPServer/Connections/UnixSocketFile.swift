import Glibc

/// The file of a listening Unix domain socket. It is removed with the last reference to this object, unless another
/// process has replaced it.
final class UnixSocketFile: Sendable {
    private let path: String
    private let device: UInt64
    private let inode: UInt64

    /// nil if there is no file.
    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    deinit {
        var status = stat()
        guard lstat(path, &status) == 0, (UInt64(status.st_dev), UInt64(status.st_ino)) == (device, inode) else {
            return
        }
        unlink(path)
    }
}
