import CLinux
import Descriptors
import Dispatch
import Downloads
import Formats
import Glibc
import Locks
import Storage

/// The folder that finished files go to, and within it the hidden one of the parts.
///
/// Every path is walked from a held descriptor, one component at a time, without following links: nothing outside is
/// ever reached, whatever is put in the way meanwhile.
public final class DownloadsFolder: Sendable {
    /// The folder and its parts, as they are held open.
    struct Handles {
        var root: Descriptor
        var parts: Descriptor
    }

    let path: String
    let handles: Locked<Handles>
    let syncs = FileSystemSyncs()
    let budget: DiskBudget

    /// Makes the folder where it is missing.
    ///
    /// - Parameter minimumFreeBytes: that downloads leave free on its file system; nil: 1 % of it, at most 1 GiB.
    /// - Throws: `EngineError.downloadsFolderUnusable` when it cannot be made or written.
    public init(at path: String, minimumFreeBytes: Int64? = nil) throws(EngineError) {
        budget = DiskBudget(floor: minimumFreeBytes.map { .bytes($0) } ?? .standard)
        do throws(DiskError) {
            let fault = FolderPath.make(path, mode: 0o755)
            guard fault == 0 else { throw DiskError("make the downloads folder", code: fault) }
            let root = try Self.open(path)
            let parts = try Self.child(FilePathRule.partsDirectory, of: root, mode: 0o700, isMade: true)
            (self.path, handles) = (path, Locked(Handles(root: root, parts: parts)))
            // Better now than at the first download.
            try probe()
        } catch {
            throw .downloadsFolderUnusable(path: path, why: error.reason)
        }
    }

    /// Opens the folder like `init`, on its own thread.
    public static func open(
        at path: String, minimumFreeBytes: Int64? = nil
    ) async throws(EngineError) -> DownloadsFolder {
        let opened: Result<DownloadsFolder, EngineError> = await withCheckedContinuation { continuation in
            DispatchQueue(label: "fetchd.disk.opening").async {
                continuation.resume(
                    returning: Result { () throws(EngineError) in
                        try DownloadsFolder(at: path, minimumFreeBytes: minimumFreeBytes)
                    })
            }
        }
        return try opened.get()
    }

    var root: Descriptor { handles.withLock { $0.root } }
    var parts: Descriptor { handles.withLock { $0.parts } }

    static func open(_ path: String) throws(DiskError) -> Descriptor {
        try .open(path, flags: O_RDONLY | O_DIRECTORY, to: "open the downloads folder")
    }

    /// A folder below the root, `/` between components; empty is the root itself.
    ///
    /// - Parameter isMade: missing components are made, and synced into their parents.
    func folder(_ path: String, isMade: Bool) throws(DiskError) -> Descriptor {
        var folder = root
        for component in PathComponents.split(path) {
            folder = try Self.child(component, of: folder, mode: 0o755, isMade: isMade)
        }
        return folder
    }

    /// Opens a finished file for reading.
    ///
    /// - Returns: nil when it is gone: nothing has its path, or another file, or what is not a regular one.
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

    /// Removes a finished file. It is no error when it is gone already, and what has its path instead is left alone.
    func removeFile(_ finished: FinishedFile) throws(DiskError) {
        let (directory, name) = PathComponents.last(of: finished.path)
        do throws(DiskError) {
            let folder = try folder(directory, isMade: false)
            // O_PATH: whatever is there is looked at, not opened.
            let found = try Descriptor.open(name, in: folder, flags: linux_O_PATH | O_NOFOLLOW, to: "look at the file")
            let status = try found.status()
            guard finished.isThis(size: Int64(status.st_size), found.mark(status)) else { return }
            guard unlinkat(folder.number, name, 0) == 0 else { throw DiskError("remove the file") }
            try folder.sync()
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    static func child(
        _ name: String, of folder: Descriptor, mode: mode_t, isMade: Bool
    ) throws(DiskError) -> Descriptor {
        // Whatever let it through: there is no way up.
        guard PathComponents.isOne(name) else { throw DiskError("go into the folder \(name)", code: ENOTDIR) }
        if isMade {
            if mkdirat(folder.number, name, mode) == 0 {
                try folder.sync()
            } else if errno != EEXIST {
                throw DiskError("make the folder \(name)")
            }
        }
        return try .open(name, in: folder, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW, to: "open the folder \(name)")
    }
}
