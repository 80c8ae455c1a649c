import CLinux
import Descriptors
import Downloads
import Foundation
import Glibc

/// The part files: one for each promised part, and one for each attempt without a promise yet.
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

    /// Opens the file of a promised part, and cuts the file to its promised length: the bytes after that were never
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

    /// Called after a start. Removes the files of parts that are not promised, and cuts the other files to their
    /// offsets. Files of other nodes stay as they are, except those of forgotten nodes that are not promised.
    ///
    /// - Parameters:
    ///   - found: the files of parts, read before the other parameters; nil: those in the folder now.
    ///   - nodes: the numbers of all nodes.
    ///   - birth: when the database was created; nil when unknown. A file that was last written before this time
    ///     belongs to another database. It stays, because that database may be restored.
    func sweepParts(
        _ found: [PartID]? = nil, promised: [PartID: Int64], nodes: Set<Int64> = [], sparing birth: Date? = nil
    ) -> (removed: Int, truncated: Int, spared: Int) {
        var counts = (removed: 0, truncated: 0, spared: 0)
        for id in found ?? partFiles() {
            let isLeft = promised[id] == nil && use.isOfForgottenNode(id, nodes: nodes)
            guard isLeft || use.sweeps(id) else { continue }
            guard let offset = promised[id] else {
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
