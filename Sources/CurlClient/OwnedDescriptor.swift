import Glibc

/// A file descriptor with one owner, closed when the owner goes.
struct OwnedDescriptor: ~Copyable, Sendable {
    let raw: Int32

    /// Takes ownership of what a system call returned, or throws what `errno` says about it.
    init(_ raw: Int32, from call: String) throws(CurlClientError) {
        guard raw >= 0 else { throw .systemCallFailed(call, errno: errno) }
        self.raw = raw
    }

    deinit {
        close(raw)
    }
}
