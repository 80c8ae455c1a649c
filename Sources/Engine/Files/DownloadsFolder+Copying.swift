import CLinux
import Descriptors
import Downloads
import Glibc

/// Copies the durable bytes of a part whose sync has failed, or whose file belongs to another node.
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

    /// Copies the promised bytes of another node's part to a new part file, and makes them and its name durable. Blocks on the
    /// disk meanwhile. The file system shares the blocks if it can.
    ///
    /// - Parameter isStopped: called between pieces of 64 MiB; true ends the copy.
    /// - Returns: false if the copy was ended. It is then removed.
    /// - Throws: `PartLoss`; `DiskError` when the copy cannot be written. The copy is then removed.
    func copyForeign(_ part: Part, to id: PartID, isStopped: () -> Bool) throws -> Bool {
        let source = try openForeign(part)
        let status = try source.status()
        guard status.st_size >= part.ranges.end else { throw PartLoss.shorterThanRecorded }
        let copy = try makePart(id)
        do throws(DiskError) {
            for piece in part.ranges.ranges.flatMap(Self.pieces) {
                guard !isStopped() else {
                    removePart(id)
                    return false
                }
                try Self.clone(piece, from: source, to: copy)
            }
            try copy.syncData()
            try parts.sync()
            return true
        } catch {
            removePart(id)
            throw error
        }
    }

    /// - Throws: `PartLoss.missing` only if there is no such file. A network file system can fail for a moment.
    private func openForeign(_ part: Part) throws -> Descriptor {
        do {
            return try Descriptor.openOwn(part.id.fileName, in: parts, to: "open the part")
        } catch let error where [ENOENT, ELOOP, ESTALE].contains(error.code) {
            throw PartLoss.missing
        }
    }

    private static func pieces(of range: Range<Int64>) -> [Range<Int64>] {
        stride(from: range.lowerBound, to: range.upperBound, by: 64 << 20).map {
            $0..<min($0 + 64 << 20, range.upperBound)
        }
    }

    private static func clone(_ range: Range<Int64>, from source: Descriptor, to copy: Descriptor) throws(DiskError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = linux_copy_range(source.number, copy.number, offset, Int(range.upperBound - offset))
            // Not every file system can do it. What is wrong otherwise shows when the bytes are read and written.
            guard count > 0 else { return try Self.copy(offset..<range.upperBound, from: source, to: copy) }
            offset += Int64(count)
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
