import CLinux
import Downloads
import Glibc

/// The folder that finished files go to, and within it the hidden one of the parts.
///
/// Every path is walked from a held descriptor, one component at a time, without following links: nothing outside is
/// ever reached, whatever is put in the way meanwhile.
public final class DownloadsFolder: Sendable {
    let root: Descriptor
    let parts: Descriptor

    /// Makes the folder where it is missing.
    ///
    /// - Throws: `EngineError.downloadsFolderUnusable` when it cannot be made or written.
    public init(at path: String) throws(EngineError) {
        do throws(DiskError) {
            let fault = FolderPath.make(path, mode: 0o755)
            guard fault == 0 else { throw DiskError("make the downloads folder", code: fault) }
            root = try .open(path, flags: O_RDONLY | O_DIRECTORY, to: "open the downloads folder")
            parts = try Self.child(FilePathRule.partsDirectory, of: root, mode: 0o700, isMade: true)
            // Better now than at the first download.
            _ = try Descriptor.open(
                ".probe", in: parts, flags: O_WRONLY | O_CREAT | O_NOFOLLOW, to: "write to the downloads folder")
            unlinkat(parts.number, ".probe", 0)
        } catch {
            throw .downloadsFolderUnusable(path: path, why: error.reason)
        }
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

    /// Opens a finished file for reading; `path` is from the root.
    ///
    /// - Returns: nil when there is no such file, or it is not a regular one.
    public func openFile(_ path: String) -> (descriptor: Int32, size: Int64, modified: Int64)? {
        let (directory, name) = PathComponents.last(of: path)
        guard let folder = try? folder(directory, isMade: false),
            let file = try? Descriptor.open(name, in: folder, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK, to: "open"),
            let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        let number = fcntl(file.number, F_DUPFD_CLOEXEC, 3)
        return number < 0 ? nil : (number, Int64(status.st_size), Int64(status.st_mtim.tv_sec))
    }

    /// Removes a finished file. It is no error when it is gone already.
    func removeFile(_ path: String) throws(DiskError) {
        let (directory, name) = PathComponents.last(of: path)
        do throws(DiskError) {
            let folder = try folder(directory, isMade: false)
            guard unlinkat(folder.number, name, 0) == 0 else { throw DiskError("remove the file") }
            try folder.sync()
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    private static func child(
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
