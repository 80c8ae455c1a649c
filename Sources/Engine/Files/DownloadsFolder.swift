import Base
import CLinux
import Dispatch
import Downloads
import Formats
import Foundation
import Glibc
import Storage
import Synchronization

/// The folder of the finished files, and in it the hidden folder of the parts.
///
/// Every path is opened from a held descriptor, one component at a time, without following links. So no file outside
/// the folder is reached, also if another program changes the path meanwhile.
public final class DownloadsFolder: Sendable {
    /// The open descriptors of the folder and of the folders of parts.
    struct Handles {
        var root: Descriptor
        /// Where parts grow.
        var parts: Descriptor
        /// `.incomplete` in the root, from which complete parts are moved to their places. Mostly the same as `parts`.
        var ready: Descriptor
        /// Empty: the folder is not claimed.
        var claims: [FolderClaim.Held] = []

        func release() { for claim in claims { claim.release() } }

        /// Of a folder that was not opened yet: every call fails.
        static var none: Handles {
            let none = Descriptor(owning: -1)
            return Handles(root: none, parts: none, ready: none)
        }
    }

    let path: String
    /// A folder for parts that is not in `path`, perhaps on another file system; nil: there is none.
    let incompletePath: String?
    let handles: Locked<Handles>
    let syncs = FileSystemSyncs()
    private let closing = Atomic(false)
    let budget: DiskBudget
    let modes: FileModes
    let exclusiveMove: ExclusiveMove
    let use: FolderUse
    /// nil in tests of the folder alone.
    let claim: FolderClaim?
    /// Whether the folder had files at an earlier start. If it has none, its disk is missing.
    let wasUsed: Bool

    /// Opens the folder, and creates it if it is missing.
    ///
    /// - Parameters:
    ///   - incomplete: a folder for the parts, perhaps on another file system; nil: they are in `.incomplete` in the folder.
    ///   - minimumFreeBytes: bytes that downloads leave free on its file system; nil: 1 % of it, at most 1 GiB.
    /// - Throws: `EngineError.downloadsFolderUnusable` when the folder cannot be created or written.
    public convenience init(
        at path: String, incomplete: String? = nil, minimumFreeBytes: Int64? = nil, modes: FileModes = FileModes(),
        for use: FolderUse = .alone
    ) throws(EngineError) {
        try self.init(
            at: path, incomplete: incomplete, minimumFreeBytes: minimumFreeBytes, modes: modes, for: use, claimedBy: nil
        )
    }

    /// A folder that is opened later, by `inspect`: its disk may be missing, or slow.
    ///
    /// - Parameters:
    ///   - incomplete: see `init`.
    ///   - wasUsed: whether the folder had files at an earlier start.
    ///   - claim: keeps other services out of the folder.
    init(
        unopenedAt path: String, incomplete: String? = nil, wasUsed: Bool = false, minimumFreeBytes: Int64? = nil,
        modes: FileModes = FileModes(), for use: FolderUse = .alone, claimedBy claim: FolderClaim?,
        moving move: ExclusiveMove = ExclusiveMove()
    ) {
        self.path = path
        incompletePath = incomplete
        self.modes = modes
        self.use = use
        self.claim = claim
        self.wasUsed = wasUsed
        exclusiveMove = move
        budget = DiskBudget(minimumFreeBytes: minimumFreeBytes)
        handles = Locked(.none)
    }

    convenience init(
        at path: String, incomplete: String? = nil, minimumFreeBytes: Int64? = nil, modes: FileModes = FileModes(),
        for use: FolderUse = .alone, claimedBy claim: FolderClaim?, moving move: ExclusiveMove = ExclusiveMove()
    ) throws(EngineError) {
        self.init(
            unopenedAt: path, incomplete: incomplete, minimumFreeBytes: minimumFreeBytes, modes: modes, for: use,
            claimedBy: claim, moving: move)
        do throws(DiskError) {
            try makeAndOpen()
        } catch {
            throw .downloadsFolderUnusable(path: path, why: error.reason)
        }
        // First, because the probe would disturb a service that has the folder.
        try takeClaim()
        do throws(DiskError) {
            // Report a folder that cannot be written at the start, not at the first download.
            try probe()
        } catch {
            throw .downloadsFolderUnusable(path: path, why: error.reason)
        }
    }

    /// Whether the file of a part is open only during an operation, because the limit on descriptors allows no more (`closeParts`).
    var closesParts: Bool { closing.load(ordering: .relaxed) }

    /// Called before the first part is made.
    func closeParts() { closing.store(true, ordering: .relaxed) }

    var isOpen: Bool { root.number >= 0 }

    func makeAndOpen() throws(DiskError) {
        if wasUsed { try requireLockOfEarlierStart() }
        let fault = FolderPath.make(path, mode: 0o755)
        guard fault == 0 else { throw DiskError("make the folder", code: fault) }
        let root = try Self.open(path)
        let ready = try Self.child(FilePathRule.partsDirectory, of: root, mode: 0o700, isMade: true)
        let parts = try incompletePath.map { path throws(DiskError) in try Self.makeIncomplete(path) } ?? ready
        handles.withLock { $0 = Handles(root: root, parts: parts, ready: ready) }
    }

    /// Refuses the mount point of a missing disk: files there would fill another disk, and be hidden as soon as it is mounted.
    private func requireLockOfEarlierStart() throws(DiskError) {
        let locks = ["\(path)/\(FilePathRule.partsDirectory)", incompletePath].compactMap(\.self).map {
            "\($0)/\(FolderClaim.name)"
        }
        for lock in locks where access(lock, F_OK) != 0 {
            throw DiskError("find the lock file of an earlier start (the disk may not be mounted)")
        }
    }

    private func takeClaim() throws(EngineError) {
        guard let claim else { return }
        do throws(FolderClaim.Refusal) {
            for folder in partFolders {
                let held = try claim(in: folder)
                handles.withLock { $0.claims.append(held) }
            }
        } catch {
            switch error {
            case .inUse: throw .downloadsFolderInUse(path: path)
            case .uncertain: throw .downloadsFolderUncertain(path: path)
            case .failed(let error): throw .downloadsFolderUnusable(path: path, why: error.reason)
            }
        }
    }

    /// Since when the database has this folder, if another one had it before. Older parts may belong to that one.
    var claimedSince: Date? { handles.withLock { $0.claims.compactMap(\.since).max() } }

    public func release() {
        handles.withLock { handles in
            handles.release()
            handles.claims = []
        }
    }

    /// Opens the folder like `init`, on its own thread, and claims it.
    ///
    /// - Parameter database: the identity of the database of this service.
    /// - Throws: also `EngineError.downloadsFolderInUse`, `downloadsFolderUncertain`.
    public static func open(
        at path: String, minimumFreeBytes: Int64? = nil, modes: FileModes = FileModes(), for use: FolderUse,
        ofDatabase database: String
    ) async throws(EngineError) -> DownloadsFolder {
        let claim = FolderClaim(database: database, isShared: use.isSharedFolder)
        let opened: Result<DownloadsFolder, EngineError> = await withCheckedContinuation { continuation in
            DispatchQueue(label: "fetchd.disk.opening").async {
                continuation.resume(
                    returning: Result { () throws(EngineError) in
                        try DownloadsFolder(
                            at: path, minimumFreeBytes: minimumFreeBytes, modes: modes, for: use, claimedBy: claim)
                    })
            }
        }
        return try opened.get()
    }

    /// Returns when the disk of the folder has answered. An error is an answer, too: the opening reports it.
    public static func waitForDisk(at path: String) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "fetchd.disk.probe").async {
                try? open(path).sync()
                continuation.resume()
            }
        }
    }

    var root: Descriptor { handles.withLock { $0.root } }
    var parts: Descriptor { handles.withLock { $0.parts } }
    var ready: Descriptor { handles.withLock { $0.ready } }

    /// The folders that can have the file of a part, first the one where it grows.
    var partFolders: [Descriptor] {
        handles.withLock { handles in incompletePath == nil ? [handles.ready] : [handles.parts, handles.ready] }
    }

    static func makeIncomplete(_ path: String) throws(DiskError) -> Descriptor {
        let fault = FolderPath.make(path, mode: 0o700)
        guard fault == 0 else { throw DiskError("make the folder of incomplete files", code: fault) }
        return try open(path)
    }

    static func open(_ path: String) throws(DiskError) -> Descriptor {
        try .open(path, flags: O_RDONLY | O_DIRECTORY, to: "open the folder")
    }

    /// Opens a folder below the root. Components are separated by `/`; an empty path is the root.
    ///
    /// - Parameter isMade: whether missing components are created, and synced in their parents.
    func folder(_ path: String, isMade: Bool) throws(DiskError) -> Descriptor {
        var folder = root
        for component in PathComponents.split(path) { folder = try child(component, of: folder, isMade: isMade) }
        return folder
    }

    private func child(_ name: String, of folder: Descriptor, isMade: Bool) throws(DiskError) -> Descriptor {
        guard isMade, try Self.makeChild(name, of: folder, mode: modes.newFolder) else {
            return try Self.openChild(name, of: folder)
        }
        let made = try Self.openChild(name, of: folder)
        if let mode = modes.folder(having: try made.status().st_mode) {
            try made.setMode(mode)
            // The permissions have to be durable before the name is.
            try made.sync()
        }
        try folder.sync()
        return made
    }

    /// Why no file can be put into this folder: a component of the path is a file or a link. nil if the folder exists or can
    /// be created.
    func fault(inFolder path: String) -> Failure? {
        let error = DiskError.of { () throws(DiskError) in _ = try folder(path, isMade: false) }
        return [ENOTDIR, ELOOP].contains(error?.code) ? FinalizeFault.notAFolder(path).failure : nil
    }

    /// - Returns: nil when the path has no file, another file, or something that is not a regular file.
    func openFile(_ finished: FinishedFile) -> OpenedFile? {
        let (directory, name) = PathComponents.last(of: finished.path)
        guard let folder = try? folder(directory, isMade: false),
            let file = try? Descriptor.open(name, in: folder, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK, to: "open"),
            let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        let mark = file.mark(status)
        guard finished.isThis(size: Int64(status.st_size), mark) else { return nil }
        let size = Int64(status.st_size)
        return OpenedFile(
            descriptor: file, size: size, modified: mark.modified,
            isAsFinished: size == finished.size && mark.modified == finished.mark?.modified)
    }

    /// Removes a finished file. A missing file is no error, and another file with the same path stays.
    func removeFile(_ finished: FinishedFile) throws(DiskError) {
        let (directory, name) = PathComponents.last(of: finished.path)
        do throws(DiskError) {
            let folder = try folder(directory, isMade: false)
            // O_PATH gets the status of the file without opening its content.
            let found = try Descriptor.open(name, in: folder, flags: linux_O_PATH | O_NOFOLLOW, to: "look at the file")
            let status = try found.status()
            guard finished.isThis(size: Int64(status.st_size), found.mark(status)) else { return }
            let code = remove(FolderEntry(name, in: folder))
            guard code == 0 else { throw DiskError("remove the file", code: code) }
            try folder.sync()
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    /// Opens a folder for the use of fetchd itself.
    ///
    /// - Parameter isMade: whether the folder is created if it is missing, and synced in its parent.
    static func child(
        _ name: String, of folder: Descriptor, mode: mode_t, isMade: Bool
    ) throws(DiskError) -> Descriptor {
        if isMade, try makeChild(name, of: folder, mode: mode) { try folder.sync() }
        return try openChild(name, of: folder)
    }

    /// - Returns: false if the name exists.
    private static func makeChild(_ name: String, of folder: Descriptor, mode: mode_t) throws(DiskError) -> Bool {
        try requireOneComponent(name)
        if mkdirat(folder.number, name, mode) == 0 { return true }
        guard errno == EEXIST else { throw DiskError("make the folder \(name)") }
        return false
    }

    private static func openChild(_ name: String, of folder: Descriptor) throws(DiskError) -> Descriptor {
        try requireOneComponent(name)
        return try .open(
            name, in: folder, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW, to: "open the folder \(name)")
    }

    /// Rejects `..` here as well, in case an earlier check missed it.
    private static func requireOneComponent(_ name: String) throws(DiskError) {
        guard PathComponents.isOne(name) else { throw DiskError("go into the folder \(name)", code: ENOTDIR) }
    }
}

extension DownloadsFolder {
    /// Space of the file system of the finished files; nil when the system does not report it.
    var space: DiskSpace? { DiskSpace(around: root) }
}

extension DiskSpace {
    init?(around folder: Descriptor) {
        var status = statvfs()
        guard fstatvfs(folder.number, &status) == 0 else { return nil }
        let block = Int64(status.f_frsize)
        guard let disk = try? folder.status().st_dev else { return nil }
        self.init(free: Int64(status.f_bavail) * block, total: Int64(status.f_blocks) * block, disk: UInt64(disk))
    }
}

public struct OpenedFile: Sendable {
    public let descriptor: Descriptor
    public let size: Int64
    /// Time of the last write, in nanoseconds since 1970.
    public let modified: Int64
    /// Whether size and time are the same as when the job succeeded.
    public let isAsFinished: Bool
}

/// The permissions of finished files, and of folders that fetchd creates for them.
public struct FileModes: Sendable, Equatable {
    /// Permissions that a setting states are given exactly; the umask of the process does not apply. nil: all may read and
    /// write, as far as the umask allows.
    private let statedFile: mode_t?
    /// nil: all may read and enter, as far as the umask allows.
    private let statedFolder: mode_t?

    /// - Parameters:
    ///   - file: permission bits of finished files; at least 0600, because fetchd reads and writes them.
    ///   - folder: permission bits of new folders; at least 0700, because fetchd uses them.
    public init(file: UInt32? = nil, folder: UInt32? = nil) {
        (statedFile, statedFolder) = (file, folder)
    }

    var file: mode_t { statedFile ?? 0o666 & ~Self.mask }

    /// The permissions to create a folder with, from which the kernel subtracts the umask.
    var newFolder: mode_t { statedFolder ?? 0o755 }

    /// The exact permissions of a new folder; nil: those with which the kernel has created it.
    ///
    /// - Parameter found: the mode of the folder. A set-group-ID bit that the folder has inherited from its parent stays.
    func folder(having found: mode_t) -> mode_t? { statedFolder.map { $0 | found & S_ISGID } }

    /// The umask of the process, which can only be read by setting it.
    private static let mask: mode_t = {
        let mask = umask(0o022)
        umask(mask)
        return mask
    }()
}
