import Base
import CLinux
import Downloads
import Glibc

/// The way of a complete part from the folder of incomplete files to the file system of its destination, where one rename makes it
/// a file. It keeps its identifier, so nothing is committed, and each step can be repeated after a crash:
///
/// - The part is renamed into `.incomplete` of the location, or, on another file system, copied there under a hidden name,
///   synced, and then renamed to its name.
/// - The original is removed after the name of the copy is durable. Until then, a next attempt finds the original, and copies again.
/// - A start removes the copies that were not complete.
extension DownloadsFolder {
    private static let copySuffix = ".copy"

    /// A copy to another file system.
    struct ReadyCopy: Sendable {
        let files: PartCopy
        let hidden, entry, original: FolderEntry
    }

    /// Renames the part. Blocks on the disk.
    ///
    /// - Returns: the copy that is necessary instead; nil: the part is ready.
    func makeReady(_ part: PartFile) throws(DiskError) -> ReadyCopy? {
        guard incompletePath != nil else { return nil }
        let name = part.id.fileName
        let (original, entry) = (FolderEntry(name, in: parts), FolderEntry(name, in: ready))
        guard original.status != nil else { return nil }
        switch move(original, to: entry, isReplacing: true) {
        case 0:
            try entry.folder.sync()
            try original.folder.sync()
            return nil
        case EXDEV: return try beginReadyCopy(of: part, from: original, to: entry)
        case let code: throw DiskError("move the part to the file system of its destination", code: code)
        }
    }

    private func beginReadyCopy(
        of part: PartFile, from original: FolderEntry, to entry: FolderEntry
    ) throws(DiskError) -> ReadyCopy {
        // Bytes that the disk has lost would otherwise be copied as it has them, and their sync would never fail.
        try part.sync()
        let (size, source) = (part.written.end, try part.file)
        let hidden = FolderEntry("." + part.id.text + Self.copySuffix, in: entry.folder)
        guard DiskSpace(around: entry.folder).map(budget.room) ?? .max >= size else {
            throw DiskError("copy \(size) bytes to the file system of its destination", code: ENOSPC)
        }
        _ = remove(hidden)
        let copy = try Descriptor.open(
            hidden.name, in: hidden.folder, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, to: "copy the part")
        let pieces = Self.pieces(of: 0..<size)
        return ReadyCopy(
            files: PartCopy(source: source, copy: copy, pieces: pieces), hidden: hidden, entry: entry,
            original: original)
    }

    /// Makes the copy durable, and then removes the original. Blocks on the disk.
    func finish(_ ready: ReadyCopy, of part: PartFile) throws(DiskError) {
        let copy = ready.files.copy
        guard try copy.status().st_size == part.written.end else { throw DiskError("copy the part", code: EIO) }
        try copy.syncAll()
        let code = move(ready.hidden, to: ready.entry, isReplacing: true)
        guard code == 0 else { throw DiskError("copy the part", code: code) }
        try ready.entry.folder.sync()
        try part.replace(by: copy)
        _ = remove(ready.original)
    }

    func abandon(_ ready: ReadyCopy) { _ = remove(ready.hidden) }

    /// Removes what an earlier run has begun to copy.
    func removeCopies() {
        guard incompletePath != nil else { return }
        let ready = ready
        for name in names(in: ready) where name.hasSuffix(Self.copySuffix) {
            let id = PartID(String(name.dropFirst().dropLast(Self.copySuffix.count)))
            if use.sweeps(id) { _ = remove(FolderEntry(name, in: ready)) }
        }
    }
}

extension Attempt {
    /// Brings the complete part to the file system of its destination.
    ///
    /// - Returns: false if the attempt has to stop.
    func makeReady(_ part: PartFile) async throws -> Bool {
        let folder = location.folder
        guard let copy = try await diskQueue.run({ try folder.makeReady(part) }) else { return true }
        do {
            for piece in copy.files.pieces where !control.isStopping {
                try await diskQueue.run {
                    try DownloadsFolder.clone(piece, from: copy.files.source, to: copy.files.copy)
                }
            }
            guard !control.isStopping else {
                try await diskQueue.run { folder.abandon(copy) }
                return false
            }
            try await diskQueue.run { try folder.finish(copy, of: part) }
            return true
        } catch {
            try await diskQueue.run { folder.abandon(copy) }
            throw error
        }
    }
}
