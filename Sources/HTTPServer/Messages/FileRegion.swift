import Descriptors
import Glibc

/// `length` bytes of a file from `offset` on, with the open descriptor to read them from. They stay readable if the
/// file is renamed or unlinked.
public final class FileRegion: Sendable {
    private let descriptor: Descriptor
    /// The first byte, counted from the start of the file.
    public let offset: UInt64
    /// The number of bytes. If the file is shorter, the connection is closed.
    public let length: UInt64

    /// - Parameter descriptor: a regular file that is open for reading.
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

    /// A duplicate of the descriptor for one response. The library closes the descriptor that it is given, and a region
    /// may be used for several responses. nil if the process has no descriptor left.
    public func duplicateDescriptor() -> Int32? {
        descriptor.duplicateForHandover()
    }

    /// Whether the file contains all bytes of the region. Another program may truncate the file at any time, and the
    /// library would then retry for ever. So this is checked repeatedly while the region is being sent.
    var isComplete: Bool {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let (end, isOverflow) = offset.addingReportingOverflow(length)
        return !isOverflow && end <= UInt64(status.st_size)
    }
}
