import Base
import CLinux
import Downloads
import Foundation
import Glibc

/// Checks whether the folder works. It can be removed, replaced, or become read-only while the service runs.
extension DownloadsFolder {
    /// Checks the folder, and opens it again if it was replaced. Blocks on the disk.
    ///
    /// - Parameter byWriting: whether to also write, sync, rename and remove a file.
    /// - Returns: why the folder cannot be used; nil when it can be used.
    func inspect(byWriting: Bool) -> DiskError? {
        DiskError.of { () throws(DiskError) in
            guard isOpen else { return try openLater() }
            try reopen()
            if byWriting { try probe() } else { try requireWritable() }
        }
    }

    /// Writes a small file like a part, moves it to a folder like a finished file, and removes both.
    ///
    /// Another program may have put a link or another name of a file in the place of either, so that both are created.
    func probe() throws(DiskError) {
        let (root, ready) = (root, ready)
        let (name, folderName) = (use.ownName(".probe"), use.ownName(".fetchd-probe"))
        let action = "write to the folder"
        unlinkat(ready.number, name, 0)
        let file = try Descriptor.open(name, in: ready, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, to: action)
        // A full disk is no fault of the folder: jobs wait for space on their own.
        if pwrite(file.number, name, name.utf8.count, 0) < 0, errno != ENOSPC, errno != EDQUOT {
            throw DiskError(action)
        }
        guard fdatasync(file.number) == 0 else { throw DiskError(action) }
        // Removes everything but a folder, which may be left from an earlier run.
        unlinkat(root.number, folderName, 0)
        let folder = try Self.child(folderName, of: root, mode: 0o700, isMade: true)
        guard renameat(ready.number, name, folder.number, name) == 0, unlinkat(folder.number, name, 0) == 0,
            unlinkat(root.number, folderName, AT_REMOVEDIR) == 0
        else { throw DiskError(action) }
        try ready.sync()
        try root.sync()
        if incompletePath != nil { try probeIncomplete(name) }
    }

    private func probeIncomplete(_ name: String) throws(DiskError) {
        let (parts, action) = (parts, "write to the folder of incomplete files")
        unlinkat(parts.number, name, 0)
        let file = try Descriptor.open(name, in: parts, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, to: action)
        guard fdatasync(file.number) == 0, unlinkat(parts.number, name, 0) == 0 else { throw DiskError(action) }
        try parts.sync()
    }

    private func requireWritable() throws(DiskError) {
        for folder in partFolders {
            guard faccessat(folder.number, ".", W_OK | X_OK, 0) == 0 else { throw DiskError("write to the folder") }
        }
    }

    /// Opens a folder that could not be opened at the start.
    private func openLater() throws(DiskError) {
        do throws(DiskError) {
            try makeAndOpen()
            let claims = try claimAgain(partFolders)
            handles.withLock { $0.claims = claims }
            try probe()
        } catch {
            release()
            handles.withLock { $0 = .none }
            throw error
        }
    }

    /// Opens the folder at this path again, if the path leads to another folder than before.
    private func reopen() throws(DiskError) {
        let (before, found) = (root, try Self.open(path))
        let (old, new) = (try before.status(), try found.status())
        let incomplete = try incompletePath.map { path throws(DiskError) in try Self.open(path) }
        if old.isOfSameFile(as: new), try ready.isChild(FilePathRule.partsDirectory, of: before),
            try incomplete.map({ folder throws(DiskError) in
                try parts.status().isOfSameFile(as: folder.status())
            }) ?? true
        {
            return
        }
        if let incomplete { try requireUsed(incomplete) }
        // An empty folder on another file system is probably the mount point of a missing disk.
        let ready = try Self.child(
            FilePathRule.partsDirectory, of: found, mode: 0o700, isMade: old.st_dev == new.st_dev)
        // The folder of parts can be the former one, at another place.
        release()
        var handles = Handles(root: found, parts: incomplete ?? ready, ready: ready)
        handles.claims = try claimAgain([handles.ready, incomplete].compactMap(\.self))
        self.handles.withLock { [handles] in $0 = handles }
    }

    /// Refuses an empty folder on another file system, in the place of the one that was used.
    private func requireUsed(_ incomplete: Descriptor) throws(DiskError) {
        let (old, new) = (try parts.status(), try incomplete.status())
        guard old.st_dev == new.st_dev || FolderEntry(FolderClaim.name, in: incomplete).status != nil else {
            throw DiskError("find the parts in the folder of incomplete files", code: ENOENT)
        }
    }

    /// Claims the folders of parts after the start: they were put in the place of former ones, or were missing.
    private func claimAgain(_ folders: [Descriptor]) throws(DiskError) -> [FolderClaim.Held] {
        guard let claim else { return [] }
        do throws(FolderClaim.Refusal) {
            var claims: [FolderClaim.Held] = []
            for folder in folders { claims.append(try claim(in: folder)) }
            return claims
        } catch {
            switch error {
            case .inUse, .uncertain: throw DiskError("claim the folder, which another fetchd may use", code: EBUSY)
            case .failed(let error): throw error
            }
        }
    }
}

extension Descriptor {
    /// Whether `name` in `folder` is still this open folder.
    fileprivate func isChild(_ name: String, of folder: Descriptor) throws(DiskError) -> Bool {
        let own = try status()
        return FolderEntry(name, in: folder).status?.isOfSameFile(as: own) ?? false
    }
}

/// The part files of a location beside the parts that a database knows. It changes nothing.
public struct PartsInspection: Sendable, Equatable {
    /// Stored parts without a file: their jobs begin again from 0.
    public var missing: [String] = []
    /// Stored parts whose file is shorter than stored: their jobs begin again from 0.
    public var short: [String] = []
    /// Files that no job needs, and their bytes. The next start removes them, unless they are older than the database.
    public var orphans: [String] = []
    public var orphanedBytes: Int64 = 0
    /// Why the folder of the parts cannot be read; nil if it can be, or does not exist.
    public var unreadable: String?

    /// - Parameters:
    ///   - path: the folder of the finished files.
    ///   - incomplete: the folder in which parts grow, if it is another one than `.incomplete`.
    ///   - stored: the end of the last durable range of each part of the location.
    ///   - grace: seconds. A file that was written within this time belongs to a transfer whose part is not stored yet.
    public init(ofFolder path: String, incomplete: String?, stored: [PartID: Int64], sparingWithin grace: Double) {
        // A complete part can be in the second one.
        let folders = [incomplete, "\(path)/\(FilePathRule.partsDirectory)"].compactMap(\.self)
        for folder in folders {
            guard access(folder, R_OK | X_OK) == 0 || errno == ENOENT else {
                unreadable = String(cString: strerror(errno))
                return
            }
        }
        for (id, end) in stored.sorted(by: { $0.key.text < $1.key.text }) {
            let sizes = folders.compactMap { folder in
                var status = stat()
                return lstat("\(folder)/\(id.fileName)", &status) == 0 ? Int64(status.st_size) : nil
            }
            guard let size = sizes.max() else {
                missing.append(id.text)
                continue
            }
            if size < end { short.append(id.text) }
        }
        let known = Set(stored.keys.map(\.fileName))
        for folder in folders { addOrphans(in: folder, besides: known, sparingWithin: grace) }
    }

    private mutating func addOrphans(in folder: String, besides known: Set<String>, sparingWithin grace: Double) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasSuffix(FilePathRule.partSuffix) && !known.contains(name) {
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
            let age = Date().timeIntervalSince1970 - Double(status.st_mtim.tv_sec)
            guard age >= grace else { continue }
            orphans.append(name)
            orphanedBytes += Int64(status.st_size)
        }
    }
}
