// A stretch of an open file to be sent as a body. The descriptor, not a path, is what keeps it readable: the file may
// be renamed or unlinked while it is sent.

import Descriptors
import Glibc

/// `length` bytes of a file from `offset` on, together with the open descriptor they are read from.
public final class FileRegion: Sendable {
    private let descriptor: Descriptor
    /// The first byte, counted from the start of the file.
    public let offset: UInt64
    /// The number of bytes; when the file does not have them (any more), the connection is closed.
    public let length: UInt64

    /// Takes over the descriptor of a regular file that is open for reading; it is closed when the region is no longer
    /// used.
    public init(of descriptor: Descriptor, offset: UInt64 = 0, length: UInt64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    /// A part of this region, which reads from the same descriptor.
    ///
    /// - Parameter range: bytes of this region; the first byte has the position 0.
    public func part(_ range: ClosedRange<Int64>) -> FileRegion {
        FileRegion(of: descriptor, offset: offset + UInt64(range.lowerBound), length: UInt64(range.count))
    }

    /// A descriptor of its own for one answer, because the library closes the one it is given and a region may be used
    /// for several answers. Nil when the process has none left.
    public func duplicateDescriptor() -> Int32? {
        descriptor.duplicateForHandover()
    }

    /// Whether the file has all the bytes. Somebody may cut it short at any time, and the library then tries for ever to
    /// send what is not there: it has to be checked again and again while it is being sent.
    var isComplete: Bool {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let (end, isOverflow) = offset.addingReportingOverflow(length)
        return !isOverflow && end <= UInt64(status.st_size)
    }
}
