import Base
import CLinux
import Downloads
import Foundation
import Glibc

/// The part files: one for each stored part, and one for each attempt without a checkpoint yet.
extension DownloadsFolder {
    /// Creates a new, empty part file.
    func makePart(_ id: PartID) throws(DiskError) -> Descriptor {
        try .open(
            id.fileName, in: parts, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, to: "make the part")
    }

    /// Whether the part has a file in this folder.
    func hasFile(of id: PartID) -> Bool {
        var status = stat()
        return fstatat(parts.number, id.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    enum PartLoss: Error {
        case missing, shorterThanRecorded
        /// The part may be complete, but this service has lost its lease and may not cut its file.
        case leaseLost
    }

    /// Opens the file of a stored part, and cuts the file to its stored length: the bytes after that were never
    /// synced.
    func openPart(_ part: Part) throws(PartLoss) -> Descriptor {
        guard use.location(of: part.id) == .own,
            let file = try? Descriptor.openOwn(part.id.fileName, in: parts, to: "open the part"),
            let status = try? file.status()
        else { throw .missing }
        guard status.st_size >= part.ranges.end else { throw .shorterThanRecorded }
        switch cut(file, to: part.ranges.end) {
        case 0: return file
        case DiskError.leaseLost: throw .leaseLost
        default: throw .missing
        }
    }

    /// Removes the file of a part. Without a lease it stays: the next start of its owner removes it.
    ///
    /// - Returns: 0, or the error code.
    @discardableResult
    func removePart(_ id: PartID) -> Int32 { remove(FolderEntry(id.fileName, in: parts)) }

    /// Called after a start. Removes the files of parts that no job needs, and cuts the other files to their
    /// offsets. Files of other nodes stay as they are, except those of forgotten nodes that no job needs.
    ///
    /// - Parameters:
    ///   - found: the files of parts, read before the other parameters; nil: those in the folder now.
    ///   - nodes: the numbers of all nodes.
    ///   - birth: when the database was created; nil when unknown. A file that was last written before this time
    ///     belongs to another database. It stays, because that database may be restored.
    func sweepParts(
        _ found: [PartID]? = nil, needed: [PartID: Int64], nodes: Set<Int64> = [], sparing birth: Date? = nil
    ) -> (removed: Int, truncated: Int, spared: Int) {
        var counts = (removed: 0, truncated: 0, spared: 0)
        for id in found ?? partFiles() {
            let isLeft = needed[id] == nil && use.isOfForgottenNode(id, nodes: nodes)
            guard isLeft || use.sweeps(id) else { continue }
            guard let offset = needed[id] else {
                if let birth, isOlder(id, than: birth) {
                    counts.spared += 1
                    continue
                }
                removePart(id)
                counts.removed += 1
                continue
            }
            guard let file = try? Descriptor.openOwn(id.fileName, in: parts, to: "cut the part"),
                let status = try? file.status(), status.st_size > offset
            else { continue }
            if cut(file, to: offset) == 0 { counts.truncated += 1 }
        }
        return counts
    }

    private func isOlder(_ id: PartID, than moment: Date) -> Bool {
        var status = stat()
        guard fstatat(parts.number, id.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        let written = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
        return written < moment.timeIntervalSince1970
    }

    func partFiles() -> [PartID] {
        // closedir closes the descriptor that fdopendir got, and reading moves its position, so the folder is opened
        // again.
        let copy = openat(parts.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let folder = fdopendir(copy) else { return [] }
        defer { closedir(folder) }
        var ids: [PartID] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(FilePathRule.partSuffix) {
                ids.append(PartID(String(name.dropLast(FilePathRule.partSuffix.count))))
            }
        }
        return ids
    }
}

extension PartID {
    var fileName: String { text + FilePathRule.partSuffix }
}

/// A copy of another node's part that is under way.
struct PartCopy: Sendable {
    let source: Descriptor
    let copy: Descriptor
    /// Ranges of at most 64 MiB each, so that a disk queue can do other work in between.
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

    /// Begins to copy the stored bytes of another node's part to a new part file.
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
