import CLinux
import Descriptors
import Downloads
import Glibc

/// A copy of another node's part that is under way.
struct PartCopy: Sendable {
    let source: Descriptor
    let copy: Descriptor
    /// Of at most 64 MiB each, so that a disk lane can do other work in between.
    let pieces: [Range<Int64>]
}

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

    /// Begins to copy the promised bytes of another node's part to a new part file.
    ///
    /// - Throws: `PartLoss`; `DiskError` when the new file cannot be made.
    func beginCopy(ofForeign part: Part, to id: PartID) throws -> PartCopy {
        let source = try openForeign(part)
        let status = try source.status()
        guard status.st_size >= part.ranges.end else { throw PartLoss.shorterThanRecorded }
        return PartCopy(source: source, copy: try makePart(id), pieces: part.ranges.ranges.flatMap(Self.pieces))
    }

    /// Copies a piece. Blocks on the disk meanwhile. The file system shares the blocks if it can.
    func copy(_ piece: Range<Int64>, of copying: PartCopy) throws(DiskError) {
        try Self.clone(piece, from: copying.source, to: copying.copy)
    }

    /// Makes the copied bytes and the name of the new file durable. Blocks on the disk meanwhile.
    func finish(_ copying: PartCopy) throws(DiskError) {
        try copying.copy.syncData()
        try parts.sync()
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
            $0..<min($0 + (64 << 20), range.upperBound)
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
