import Base
import CLinux
import Downloads
import Formats
import Foundation
import Glibc

/// Turns parts into files. Each step can be repeated after a crash.
///
/// Another program may replace every name at every moment. So each folder is used by its descriptor, and after a rename
/// fetchd looks whether it has moved the verified file to the planned path.
extension DownloadsFolder {
    /// Renames the parts to their places, and syncs each destination folder once.
    ///
    /// The call can be repeated, after a crash or after `unsynced`. A file that is in its place is then moved back and
    /// renamed again, because a successful sync after a failed one proves nothing unless the folder has changed.
    ///
    /// - Returns: the fault of each promotion, in order; nil when the file is durable in its place.
    func place(_ promotions: [FinalizePlan]) -> [FinalizeFault?] {
        // The keys are bytes: Swift considers two spellings of an accent equal, but the disk has a folder for each.
        var (folders, placed) = ([[UInt8]: Descriptor](), [[UInt8]: [Int]]())
        var faults = [FinalizeFault?](repeating: nil, count: promotions.count)
        for (index, promotion) in promotions.enumerated() {
            let directory = PathComponents.last(of: promotion.file.path).folder
            let path = Array(directory.utf8)
            do throws(FinalizeFault) {
                if folders[path] == nil { folders[path] = try folderForFile(directory, isMade: true) }
                guard let folder = folders[path] else { continue }
                try place(promotion, in: folder)
                placed[path, default: []].append(index)
            } catch {
                faults[index] = error
            }
        }
        for (path, indices) in placed {
            guard let folder = folders[path] else { continue }
            for (index, fault) in zip(indices, sync(indices.map { promotions[$0] }, in: folder)) {
                faults[index] = fault
            }
        }
        return faults
    }

    /// Syncs the folder with the renamed files, if it still has the path that was planned.
    private func sync(_ promotions: [FinalizePlan], in folder: Descriptor) -> [FinalizeFault?] {
        let path = PathComponents.last(of: promotions[0].file.path).folder
        guard isFolder(folder, at: path) else { return promotions.map { withdraw($0, from: folder) } }
        do throws(DiskError) {
            try folder.sync()
            return promotions.map { _ in nil }
        } catch {
            return promotions.map { _ in .unsynced(error) }
        }
    }

    /// Whether the path leads to this open folder. Another program may have moved the folder away since it was opened,
    /// also out of the downloads folder.
    private func isFolder(_ folder: Descriptor, at path: String) -> Bool {
        guard let there = try? self.folder(path, isMade: false).status(), let here = try? folder.status() else {
            return false
        }
        return there.isOfSameFile(as: here)
    }

    /// Moves a file back to the parts, because its folder is no longer at the planned path.
    private func withdraw(_ promotion: FinalizePlan, from folder: Descriptor) -> FinalizeFault {
        let (directory, name) = PathComponents.last(of: promotion.file.path)
        do throws(FinalizeFault) {
            _ = try takeBack(promotion, from: FolderEntry(name, in: folder))
            return .invalid("Another program moved the folder \(directory) while the file was moved into it.")
        } catch {
            return error
        }
    }

    private func place(_ promotion: FinalizePlan, in folder: Descriptor) throws(FinalizeFault) {
        let name = PathComponents.last(of: promotion.file.path).name
        guard PathComponents.isOne(name) else { throw .invalid("\(promotion.file.path) names no file.") }
        let (part, place) = (FolderEntry(promotion.part.fileName, in: ready), FolderEntry(name, in: folder))
        switch identity(of: promotion, at: part) {
        case .same(let mode, hasOtherName: true) where isSame(promotion, at: place):
            // fetchd died between the two calls that move a file: the file is in its place.
            try requirePermissions(of: promotion, having: mode)
            return try complete(promotion, remove(part), at: place)
        case .same(let mode, _): try requirePermissions(of: promotion, having: mode)
        case .other: throw .changed
        case .missing: try requirePermissions(of: promotion, having: takeBack(promotion, from: place))
        }
        try complete(promotion, move(part, to: place, isReplacing: promotion.conflict == .replace), at: place)
        // Another program may have given the part's name to another file just before the rename.
        guard isSame(promotion, at: place) else {
            _ = move(place, to: part)
            throw .changed
        }
    }

    private func complete(_ promotion: FinalizePlan, _ code: Int32, at place: FolderEntry) throws(FinalizeFault) {
        guard isDone(code, promotion, at: place) else { throw Self.fault(code, promotion) }
    }

    /// An NFS client repeats a request whose answer was lost. The answer to the repetition reports that the old name is missing.
    ///
    /// - Parameter code: of the call that leaves the file with this name only.
    private func isDone(_ code: Int32, _ promotion: FinalizePlan, at entry: FolderEntry) -> Bool {
        code == 0 || code == ENOENT && isSame(promotion, at: entry)
    }

    private static func fault(_ code: Int32, _ promotion: FinalizePlan) -> FinalizeFault {
        switch code {
        case ENOENT: .vanished
        case EEXIST where promotion.conflict == .rename: .nameTaken
        case EEXIST: .occupied(promotion.file.path)
        case EISDIR, ENOTEMPTY: .invalid("\(promotion.file.path) is a folder and cannot be replaced.")
        default: .disk(DiskError("move the file to its place", code: code))
        }
    }

    /// Sets the permissions of the part if it has others. `publish` has set them and made them durable before the plan was
    /// committed, but the setting may have changed since then.
    private func requirePermissions(of promotion: FinalizePlan, having mode: mode_t) throws(FinalizeFault) {
        guard mode & 0o7777 != modes.file else { return }
        let ready = ready
        // A path could lead to another file than the one that was looked at.
        let part = try FinalizeFault.wrapping { () throws(DiskError) in
            try Descriptor.open(
                promotion.part.fileName, in: ready, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK, to: "open the part")
        }
        let status = try FinalizeFault.wrapping(part.status)
        guard UInt64(status.st_ino) == promotion.inode else { throw .changed }
        try FinalizeFault.wrapping { () throws(DiskError) in
            try part.setMode(modes.file)
            try part.syncAll()
        }
    }

    /// Moves a renamed file back to the parts, because its rename may not be durable.
    ///
    /// - Returns: the mode of the file.
    private func takeBack(_ promotion: FinalizePlan, from place: FolderEntry) throws(FinalizeFault) -> mode_t {
        guard case .same(let mode, _) = identity(of: promotion, at: place) else { throw .vanished }
        let part = FolderEntry(promotion.part.fileName, in: ready)
        let code = move(place, to: part)
        guard isDone(code, promotion, at: part) else {
            throw .disk(DiskError("move the file back to the parts", code: code))
        }
        // Later steps may depend on the part's name: a committed refusal, or another destination.
        do throws(DiskError) {
            try syncs.syncNames(in: ready)
            try place.folder.sync()
        } catch {
            throw .unsynced(error)
        }
        return mode
    }

    private enum Identity {
        case same(mode: mode_t, hasOtherName: Bool)
        case other, missing
    }

    private func isSame(_ promotion: FinalizePlan, at entry: FolderEntry) -> Bool {
        if case .same = identity(of: promotion, at: entry) { true } else { false }
    }

    /// Whether the verified part has this name and is unchanged.
    private func identity(of promotion: FinalizePlan, at entry: FolderEntry) -> Identity {
        guard let status = entry.status else { return .missing }
        let isSame =
            UInt64(status.st_ino) == promotion.inode && Int64(status.st_size) == promotion.file.size
            && promotion.file.mark.map { isSameTime(status.modified, $0.modified) } ?? true
        return isSame ? .same(mode: status.st_mode, hasOtherName: status.st_nlink > 1) : .other
    }

    func isUnchanged(_ found: FileMark, since recorded: FileMark) -> Bool {
        found.isOfSameFile(as: recorded) && isSameTime(found.modified, recorded.modified)
    }

    /// Some file systems store only whole seconds, which shows after a restart.
    private func isSameTime(_ found: Int64, _ recorded: Int64) -> Bool {
        let second: Int64 = 1_000_000_000
        return found == recorded || found % second == 0 && found / second == recorded / second
    }
}

/// The calls that change the names and the lengths of files that other services may have taken over. Each of them looks
/// directly before its first system call whether this service may still act for its jobs. A move can need two calls (`ExclusiveMove`).
///
/// `PartFile.trim` does not look: it releases the space that is reserved behind the bytes of a part of this service.
extension DownloadsFolder {
    /// - Parameter isReplacing: whether a file with the other name is replaced.
    /// - Returns: 0, or the error code; that of `DiskError.leaseLost` if nothing was done.
    func move(_ source: FolderEntry, to target: FolderEntry, isReplacing: Bool = false) -> Int32 {
        guard use.holdsLease() else { return DiskError.leaseLost }
        guard isReplacing else { return exclusiveMove(source, to: target) }
        return renameat(source.folder.number, source.name, target.folder.number, target.name) == 0 ? 0 : errno
    }

    func remove(_ entry: FolderEntry) -> Int32 { use.holdsLease() ? entry.remove() : DiskError.leaseLost }

    func cut(_ file: Descriptor, to length: Int64) -> Int32 {
        guard use.holdsLease() else { return DiskError.leaseLost }
        return ftruncate(file.number, off_t(length)) == 0 ? 0 : errno
    }
}

struct FolderEntry {
    let folder: Descriptor
    let name: String

    init(_ name: String, in folder: Descriptor) {
        self.folder = folder
        self.name = name
    }

    /// Whether both names lead to one file. Links are not followed.
    func isSameFile(as other: FolderEntry) -> Bool {
        guard let own = status, let found = other.status else { return false }
        return own.isOfSameFile(as: found)
    }

    /// The status of the file; nil if there is none with this name.
    var status: stat? {
        var status = stat()
        return fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// - Returns: 0, or the error code.
    func remove() -> Int32 { unlinkat(folder.number, name, 0) == 0 ? 0 : errno }
}

/// Moves a file to another name, and never replaces a file.
///
/// Some file systems, such as NFS, refuse the flag `RENAME_NOREPLACE`. There the file gets its new name with `link`, which
/// never replaces a file, and then loses its old name. If fetchd dies between both calls, the file has both names:
/// `DownloadsFolder.place` recognises that.
struct ExclusiveMove: Sendable {
    /// The system call that renames without replacing. It returns 0, or -1 and sets `errno`.
    var rename: @Sendable (Int32, String, Int32, String) -> Int32 = { linux_rename_noreplace($0, $1, $2, $3) }

    /// - Returns: 0, or the error code.
    func callAsFunction(_ source: FolderEntry, to target: FolderEntry) -> Int32 {
        let result = rename(source.folder.number, source.name, target.folder.number, target.name)
        let code = result == 0 ? 0 : errno
        return [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) ? link(source, target) : code
    }

    private func link(_ source: FolderEntry, _ target: FolderEntry) -> Int32 {
        let result = linkat(source.folder.number, source.name, target.folder.number, target.name, 0)
        let code = result == 0 ? 0 : errno
        // An NFS client repeats a request whose answer was lost. The answer to the repetition reports its own link.
        guard code == 0 || code == EEXIST && source.isSameFile(as: target) else { return code }
        // Another program may have given the old name to another file meanwhile, which stays.
        guard source.isSameFile(as: target) else { return 0 }
        let removal = source.remove()
        return removal == ENOENT ? 0 : removal
    }
}
