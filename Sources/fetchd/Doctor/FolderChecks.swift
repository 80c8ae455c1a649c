import Base
import Configuration
import Foundation
import Glibc

extension DoctorReport {
    /// The permissions of the folders, and whether they can be used.
    mutating func checkFolders() {
        let (data, downloads) = (settings.dataFolder, settings.downloadsFolder)
        checkFolder(data, purpose: "data folder", option: "data-dir")
        for name in [".", "fetchd.sqlite", "fetchd.sqlite-wal", "fetchd.key", "fetchd.mark"] {
            var status = stat()
            let file = name == "." ? data : "\(data)/\(name)"
            guard stat(file, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            warn(
                .folders, "Other users have permissions on \(file), which holds secrets.",
                "The next start removes them. Or run: chmod go= \(file)")
        }
        if let type = FileSystemType.network(of: data) {
            fail(
                .folders,
                "The data folder \(data) is on a network file system (\(type)), which can damage the database.",
                "Move the data folder to a local disk. The downloads folder may stay.")
        }
        checkFolder(downloads, purpose: "downloads folder", option: "downloads-dir")
        let locations = settings.start.values.locations
        for location in locations {
            for path in [location.folder?.path, location.folder?.incompletePath].compactMap(\.self) {
                checkFolder(path, purpose: "folder of the location \(location.name)", option: "location")
            }
        }
        let folders = [data, downloads] + locations.compactMap(\.folder?.path)
        succeedIfNothing(
            .folders, "\(folders.formatted(.list(type: .and).locale(.init(identifier: "en")))) can be used.")
    }

    private mutating func checkFolder(_ path: String, purpose: String, option: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return fail(.folders, "The \(purpose) \(path) cannot be read: \(Self.reason).", Self.run(as: "it"))
            }
            return warn(
                .folders, "The \(purpose) \(path) does not exist.",
                "If the service has run before, name its folder: --\(option), FETCHD_\(option.uppercased().replacing("-", with: "_")) or --config. Otherwise its first start creates the folder."
            )
        }
        if status.st_mode & S_IFMT != S_IFDIR {
            fail(.folders, "\(path) is no folder.", "Name another \(purpose).")
        } else if access(path, R_OK | W_OK | X_OK) != 0 {
            fail(.folders, "The \(purpose) \(path) cannot be written: \(Self.reason).", Self.run(as: path))
        } else if geteuid() == 0, status.st_uid != 0 {
            warn(
                .folders, "The \(purpose) \(path) belongs to another user than root, who runs this command.",
                "Run this command as the user of the service, so that it finds what that user may not do.")
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func run(as owner: String) -> String {
        "Run this command as the user of the service. If that user cannot write \(owner), correct its owner or permissions."
    }
}

/// The type of the file system of a folder.
enum FileSystemType {
    /// File systems on which the locks and the shared memory of SQLite's log do not work reliably.
    private static let ofNetworks: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.glusterfs",
    ]

    static func network(of path: String) -> String? {
        guard let mounts = KernelFile.text(of: "/proc/self/mounts") else { return nil }
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path
        return name(at: resolved, in: mounts).flatMap { ofNetworks.contains($0) ? $0 : nil }
    }

    /// - Parameter mounts: the text of /proc/self/mounts (fstab(5)). Of mounts on one folder, the last is visible.
    private static func name(at path: String, in mounts: String) -> String? {
        var best: (folder: String, type: String)?
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 3 else { continue }
            let folder = String(words[1]).replacing("\\040", with: " ")
            let isAbove = folder == "/" || path == folder || path.hasPrefix(folder + "/")
            if isAbove, folder.utf8.count >= best?.folder.utf8.count ?? 0 { best = (folder, String(words[2])) }
        }
        return best?.type
    }
}

// MARK: - Space

extension DoctorReport {
    mutating func checkSpace() {
        // Below 16 MiB, changes of jobs soon cannot be stored.
        if let free = space(in: settings.dataFolder)?.free, free < 256 << 20 {
            let message = "The disk of the data folder has \(Self.text(free)) left."
            if free < 16 << 20 {
                fail(.space, message, "Free some space: fetchd refuses changes that it cannot store.")
            } else {
                warn(.space, message, "Free some space, or move the data folder.")
            }
        }
        checkSpace(in: settings.downloadsFolder, of: "the downloads folder", leaving: nil)
        for location in settings.start.values.locations {
            guard let folder = location.folder else { continue }
            checkSpace(
                in: folder.incompletePath ?? folder.path, of: "the location \(location.name)",
                leaving: folder.minimumFreeBytes)
        }
        succeedIfNothing(.space, "The folders have free space.")
    }

    /// - Parameter minimum: bytes that downloads leave free there, if it is not that of the service.
    private mutating func checkSpace(in path: String, of owner: String, leaving minimum: Int64?) {
        guard let disk = space(in: path) else { return }
        let stated = minimum ?? settings.start.values.minimumFreeBytes
        // The default of --minimum-free-bytes.
        let reserve = stated.map(UInt64.init) ?? min(disk.size / 100, 1 << 30)
        guard disk.free <= reserve else { return }
        warn(
            .space,
            "The disk of \(owner) has \(Self.text(disk.free)) left, and fetchd leaves \(Self.text(reserve)) free.",
            "Jobs wait for space. Free some, or set --minimum-free-bytes.")
    }

    /// The bytes of the disk of a folder; nil if the report says already why no file can be stored there.
    private mutating func space(in path: String) -> (size: UInt64, free: UInt64)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            let reason =
                switch Sight(of: path) {
                case .absent: "it does not exist"
                case .hidden(let why): why
                case .present: "its file system does not say it"
                }
            skip(
                .space, "The free space of \(path) is not known: \(reason).",
                "Name a folder that this command can read.")
            return nil
        }
        if status.f_files > 0, status.f_favail == 0 {
            fail(.space, "The disk of \(path) can have no more files.", "Remove files: it has no free inodes.")
            return nil
        }
        let block = UInt64(status.f_frsize)
        return (UInt64(status.f_blocks) * block, UInt64(status.f_bavail) * block)
    }

    private static func text(_ bytes: UInt64) -> String { Int64(clamping: bytes).formatted(.byteCount(style: .file)) }
}
