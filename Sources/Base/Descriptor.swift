import Glibc

/// An open file descriptor with an owner. It is closed when the last reference to this object ends.
public final class Descriptor: Sendable {
    /// The number that system calls take. It is valid only while this object is referenced.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) { self.number = number }

    /// Takes ownership of the result of a system call.
    ///
    /// - Returns: nil if the call has failed (the result is negative). `errno` is then unchanged.
    public convenience init?(result: Int32) {
        guard result >= 0 else { return nil }
        self.init(owning: result)
    }

    /// Duplicates a descriptor that another owner may close at any time later.
    ///
    /// - Returns: nil if the process has no descriptor left.
    public convenience init?(duplicating number: Int32) { self.init(result: fcntl(number, F_DUPFD_CLOEXEC, 3)) }

    /// Duplicates the descriptor for a library that closes the descriptors it is given.
    ///
    /// - Returns: a number that the caller must close or hand over; nil if the process has no descriptor left.
    public func duplicateForHandover() -> Int32? {
        let duplicate = fcntl(number, F_DUPFD_CLOEXEC, 3)
        return duplicate < 0 ? nil : duplicate
    }

    deinit { close(number) }
}
