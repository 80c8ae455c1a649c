import Configuration
import Foundation
import Glibc

/// The permissions of the folders, and whether they can be used.
struct FolderFindings {
    let settings: ServiceSettings

    var all: [Finding] {
        let findings = dataFolder(settings.dataFolder) + downloadsFolder(settings.downloadsFolder)
        return findings.isEmpty
            ? [.ok(.folders, "\(settings.dataFolder) and \(settings.downloadsFolder) can be used.")] : findings
    }

    private func dataFolder(_ path: String) -> [Finding] {
        var findings = folder(path, purpose: "data folder", option: "data-dir")
        for name in [".", "fetchd.sqlite", "fetchd.sqlite-wal", "fetchd.key", "fetchd.mark"] {
            var status = stat()
            let file = name == "." ? path : "\(path)/\(name)"
            guard stat(file, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            findings.append(
                .warning(
                    .folders, "Other users have permissions on \(file), which holds secrets.",
                    "The next start removes them. Or run: chmod go= \(file)"))
        }
        if let type = FileSystemType.network(of: path) {
            findings.append(
                .error(
                    .folders,
                    "The data folder \(path) is on a network file system (\(type)), which can damage the database.",
                    "Move the data folder to a local disk. The downloads folder may stay."))
        }
        return findings
    }

    private func downloadsFolder(_ path: String) -> [Finding] {
        folder(path, purpose: "downloads folder", option: "downloads-dir")
    }

    private func folder(_ path: String, purpose: String, option: String) -> [Finding] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return [.error(.folders, "The \(purpose) \(path) cannot be read: \(Self.reason).", Self.run(as: "it"))]
            }
            return [
                .warning(
                    .folders, "The \(purpose) \(path) does not exist.",
                    "If the service has run before, name its folder: --\(option), FETCHD_\(option.uppercased().replacing("-", with: "_")) or --config. Otherwise its first start creates the folder."
                )
            ]
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return [.error(.folders, "\(path) is no folder.", "Name another \(purpose).")]
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            return [.error(.folders, "The \(purpose) \(path) cannot be written: \(Self.reason).", Self.run(as: path))]
        }
        guard geteuid() != 0 || status.st_uid == 0 else {
            return [
                .warning(
                    .folders, "The \(purpose) \(path) belongs to another user than root, who runs this command.",
                    "Run this command as the user of the service, so that it finds what that user may not do.")
            ]
        }
        return []
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

    /// The type, if it is that of a network.
    static func network(of path: String) -> String? {
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return nil }
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path
        return name(at: resolved, in: mounts).flatMap { ofNetworks.contains($0) ? $0 : nil }
    }

    /// - Parameter mounts: the text of /proc/self/mounts (fstab(5)). Of mounts on one folder, the last is visible.
    static func name(at path: String, in mounts: String) -> String? {
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

/// The free space of the disks.
struct SpaceFindings {
    let settings: ServiceSettings

    /// Bytes. Below the first number, changes of jobs soon cannot be stored.
    private static let (least, little): (UInt64, UInt64) = (16 << 20, 256 << 20)

    var all: [Finding] {
        let findings = dataFolder + downloadsFolder
        return findings.isEmpty ? [.ok(.space, "Both folders have free space.")] : findings
    }

    private var dataFolder: [Finding] {
        guard let disk = Self.disk(of: settings.dataFolder) else { return [Self.unknown(settings.dataFolder)] }
        if disk.hasNoFiles { return [Self.lacksFiles(settings.dataFolder)] }
        guard disk.free < Self.little else { return [] }
        let message = "The disk of the data folder has \(Self.text(disk.free)) left."
        return disk.free < Self.least
            ? [.error(.space, message, "Free some space: fetchd refuses changes that it cannot store.")]
            : [.warning(.space, message, "Free some space, or move the data folder.")]
    }

    private var downloadsFolder: [Finding] {
        guard let disk = Self.disk(of: settings.downloadsFolder) else {
            return [Self.unknown(settings.downloadsFolder)]
        }
        if disk.hasNoFiles { return [Self.lacksFiles(settings.downloadsFolder)] }
        // The default of --minimum-free-bytes.
        let reserve = settings.start.values.minimumFreeBytes.map(UInt64.init) ?? min(disk.size / 100, 1 << 30)
        guard disk.free <= reserve else { return [] }
        return [
            .warning(
                .space,
                "The disk of the downloads folder has \(Self.text(disk.free)) left, and fetchd leaves \(Self.text(reserve)) free.",
                "Jobs wait for space. Free some, or set --minimum-free-bytes.")
        ]
    }

    private static func lacksFiles(_ path: String) -> Finding {
        .error(.space, "The disk of \(path) can have no more files.", "Remove files: it has no free inodes.")
    }

    private static func unknown(_ path: String) -> Finding {
        let reason =
            switch Sight(of: path) {
            case .absent: "it does not exist"
            case .hidden(let why): why
            case .present: "its file system does not say it"
            }
        return .skipped(
            .space, "The free space of \(path) is not known: \(reason).", "Name a folder that this command can read.")
    }

    private static func disk(of path: String) -> (size: UInt64, free: UInt64, hasNoFiles: Bool)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = UInt64(status.f_frsize)
        return (
            UInt64(status.f_blocks) * block, UInt64(status.f_bavail) * block, status.f_files > 0 && status.f_favail == 0
        )
    }

    private static func text(_ bytes: UInt64) -> String { Int64(clamping: bytes).formatted(.byteCount(style: .file)) }
}
