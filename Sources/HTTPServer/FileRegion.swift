// A stretch of an open file to be sent as a body. The descriptor, not a path, is what keeps it readable: the file may
// be renamed or unlinked while it is sent.

import Glibc

/// `length` bytes of a file from `offset` on, together with the open descriptor they are read from.
public final class FileRegion: Sendable {
    private let descriptor: Int32
    /// The first byte, counted from the start of the file.
    public let offset: UInt64
    /// The number of bytes; when the file does not have them (any more), the connection is closed.
    public let length: UInt64

    /// Takes over the descriptor of a regular file that is open for reading; it is closed when the region is no longer
    /// used.
    public init(owning descriptor: Int32, offset: UInt64 = 0, length: UInt64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    deinit { close(descriptor) }

    /// A descriptor of its own for one answer, because the library closes the one it is given and a region may be used
    /// for several answers. Nil when the process has none left.
    public func duplicateDescriptor() -> Int32? {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        return duplicate < 0 ? nil : duplicate
    }

    /// Whether the file has all the bytes. Somebody may cut it short at any time, and the library then tries for ever to
    /// send what is not there: it has to be checked again and again while it is being sent.
    var isComplete: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let (end, isOverflow) = offset.addingReportingOverflow(length)
        return !isOverflow && end <= UInt64(status.st_size)
    }
}
