import Descriptors
import Downloads
import Glibc

/// Copies the durable bytes of a part whose sync has failed.
extension DownloadsFolder {
    /// Copies the durable bytes to a new part file, and makes them and its name durable. Blocks on the disk meanwhile.
    ///
    /// - Throws: when the bytes cannot be read, or the copy cannot be made durable. The copy is then removed.
    func copyDurable(of part: PartFile, to id: PartID) throws(DiskError) {
        let (source, copy) = (try part.file, try makePart(id))
        do throws(DiskError) {
            for range in part.durable.ranges { try Self.copy(range, from: source, to: copy) }
            try copy.syncData()
            try parts.sync()
        } catch {
            removePart(id)
            throw error
        }
    }

    private static func copy(_ range: Range<Int64>, from source: Descriptor, to copy: Descriptor) throws(DiskError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = min(buffer.count, Int(range.upperBound - offset))
            let count = pread(source.number, buffer.baseAddress, wanted, off_t(offset))
            guard count > 0 else { throw DiskError("read the part back", code: count == 0 ? EIO : errno) }
            try copy.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
        }
    }
}
