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

/// A file below /proc. Its size is 0, and each read returns at most a page, so Foundation's readers of files take the first page for
/// all of it.
public enum KernelFile {
    /// - Returns: the first MiB; nil if the file cannot be read.
    public static func text(of path: String) -> String? {
        guard let file = Descriptor(result: open(path, O_RDONLY | O_CLOEXEC)) else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 1 << 20 {
            let count = read(file.number, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
