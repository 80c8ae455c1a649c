import Base
import CLinux
import Downloads
import Foundation
import Glibc

/// The part files: one for each stored part, and one for each attempt without a checkpoint yet.
extension DownloadsFolder {
    func makePart(_ id: PartID) throws(DiskError) -> Descriptor {
        try .open(
            id.fileName, in: parts, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, to: "make the part")
    }

    /// Bytes that new parts may use, without regard to what running ones still need.
    var room: Int64 { DiskSpace(around: parts).map(budget.room) ?? .max }

    /// The file of a part; if there is none, its name where parts grow.
    func entry(of id: PartID) -> FolderEntry {
        let entries = partFolders.map { FolderEntry(id.fileName, in: $0) }
        return entries.first { $0.status != nil } ?? entries[0]
    }

    func hasFile(of id: PartID) -> Bool { entry(of: id).status != nil }

    func openFile(of id: PartID, to action: String) throws(DiskError) -> Descriptor {
        let entry = entry(of: id)
        return try .openOwn(entry.name, in: entry.folder, to: action)
    }

    enum PartLoss: Error {
        case missing, shorterThanRecorded
        /// The part may be complete, but this service may no longer cut its file.
        case leaseLost
    }

    /// Opens the file of a stored part, and gives it its stored length: the bytes after that were never synced.
    func openPart(_ part: Part) throws(PartLoss) -> Descriptor {
        guard use.holder(of: part.id) == .own,
            let file = try? openFile(of: part.id, to: "open the part"),
            let status = try? file.status()
        else { throw .missing }
        guard status.st_size >= part.onDisk.end else { throw .shorterThanRecorded }
        // A restored database can promise bytes whose place was given back since.
        if part.released != nil, !file.hasBlocks(of: part.onDisk) { throw .missing }
        switch cut(file, to: part.ranges.end) {
        case 0: return file
        case DiskError.leaseLost: throw .leaseLost
        default: throw .missing
        }
    }

    /// Removes the file of a part. If this service may not act for its jobs, it stays: the next start of its owner removes it.
    ///
    /// - Returns: 0, or the error code.
    @discardableResult
    func removePart(_ id: PartID) -> Int32 {
        let codes = partFolders.map { remove(FolderEntry(id.fileName, in: $0)) }
        return codes.first { $0 != 0 && $0 != ENOENT } ?? codes.min() ?? 0
    }

    /// Called after a start. Removes the files of parts that no job needs, and cuts the other files to their
    /// offsets. Files of other services stay as they are, except those of forgotten ones that no job needs.
    ///
    /// - Parameters:
    ///   - found: the files of parts, read before the other parameters; nil: those in the folder now.
    ///   - owners: the numbers of all services of the database.
    ///   - birth: when the database was created; nil when unknown. A file that was last written before this time
    ///     belongs to another database. It stays, because that database may be restored.
    func sweepParts(
        _ found: [PartID]? = nil, needed: [PartID: Int64], owners: Set<Int64> = [], sparing birth: Date? = nil
    ) -> (removed: Int, truncated: Int, spared: Int) {
        var counts = (removed: 0, truncated: 0, spared: 0)
        removeCopies()
        for id in found ?? partFiles() {
            let isLeft = needed[id] == nil && use.isAbandoned(id, owners: owners)
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
            guard let file = try? openFile(of: id, to: "cut the part"),
                let status = try? file.status(), status.st_size > offset
            else { continue }
            if cut(file, to: offset) == 0 { counts.truncated += 1 }
        }
        return counts
    }

    private func isOlder(_ id: PartID, than moment: Date) -> Bool {
        guard let status = entry(of: id).status else { return false }
        return Double(status.modified) / 1e9 < moment.timeIntervalSince1970
    }

    func partFiles() -> [PartID] {
        Set(partFolders.flatMap { names(in: $0) }.filter { $0.hasSuffix(FilePathRule.partSuffix) }).map {
            PartID(String($0.dropLast(FilePathRule.partSuffix.count)))
        }
    }

    func names(in folder: Descriptor) -> [String] {
        // closedir closes the descriptor that fdopendir got, and reading moves its position, so the folder is opened
        // again.
        let copy = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let folder = fdopendir(copy) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}

extension Descriptor {
    /// Whether none of the bytes are in a hole. Moves the position of the descriptor.
    fileprivate func hasBlocks(of ranges: ByteRanges) -> Bool {
        ranges.ranges.allSatisfy { linux_next_hole(number, $0.lowerBound) >= $0.upperBound }
    }
}

extension PartID {
    var fileName: String { text + FilePathRule.partSuffix }
}

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

    static func copy(_ range: Range<Int64>, from source: Descriptor, to copy: Descriptor) throws(DiskError) {
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
