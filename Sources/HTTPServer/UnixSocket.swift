import Base
import Glibc

public struct UnixSocket: Sendable, Hashable {
    /// The path has at most 107 bytes.
    public var path: String
    /// The permissions of its file: who may connect needs the permission to write.
    public var mode: UInt32

    public init(path: String, mode: UInt32 = 0o600) {
        self.path = path
        self.mode = mode
    }
}

/// A listening Unix domain socket. The file of a socket on which no process listens any more is replaced.
struct UnixListeningSocket {
    let descriptor: Descriptor
    let file: UnixSocketFile

    init(_ socket: UnixSocket) throws(HTTPServerError) {
        let path = socket.path
        var address = try Self.address(of: path)
        let descriptor = try Self.socket()
        if !Self.call(bind, descriptor, &address) {
            guard errno == EADDRINUSE else { throw Self.failure(of: "bind", path) }
            try Self.removeUnused(path, &address)
            guard Self.call(bind, descriptor, &address) else { throw Self.failure(of: "bind", path) }
        }
        // A client can connect only after the socket listens. The file has its mode before that.
        guard let file = UnixSocketFile(at: path), chmod(path, mode_t(socket.mode)) == 0 else {
            throw Self.failure(of: "chmod", path)
        }
        guard listen(descriptor.number, ListeningSocket.backlog) == 0 else { throw Self.failure(of: "listen", path) }
        self.descriptor = descriptor
        self.file = file
    }

    private static func address(of path: String) throws(HTTPServerError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let hasRoom = withUnsafeMutableBytes(of: &address.sun_path) { target in
            // The path ends with a NUL.
            guard bytes.count < target.count, !bytes.isEmpty, !bytes.contains(0) else { return false }
            target.copyBytes(from: bytes)
            return true
        }
        guard hasRoom else { throw .pathInvalid(path) }
        return address
    }

    private static func socket() throws(HTTPServerError) -> Descriptor {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard let descriptor = Descriptor(result: Glibc.socket(AF_UNIX, flags, 0)) else {
            throw .systemCallFailed("socket", errno: errno)
        }
        return descriptor
    }

    private static func removeUnused(_ path: String, _ address: inout sockaddr_un) throws(HTTPServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .pathOccupied(path) }
        let client = try socket()
        // A queue that is full also means that a process listens.
        if call(connect, client, &address) || errno == EAGAIN { throw .pathInUse(path) }
        guard errno == ECONNREFUSED else { throw failure(of: "connect", path) }
        unlink(path)
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Descriptor,
        _ address: inout sockaddr_un
    ) -> Bool {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func failure(of call: String, _ path: String) -> HTTPServerError {
        .systemCallFailed("\(call) \(path)", errno: errno)
    }
}

/// The file of a listening Unix domain socket. It is removed with the last reference to this object, unless another
/// process has replaced it.
final class UnixSocketFile: Sendable {
    private let path: String
    private let device: UInt64
    private let inode: UInt64

    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    deinit {
        var status = stat()
        guard lstat(path, &status) == 0, (UInt64(status.st_dev), UInt64(status.st_ino)) == (device, inode) else {
            return
        }
        unlink(path)
    }
}
