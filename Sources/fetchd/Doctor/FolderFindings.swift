import Foundation
import Glibc

/// The permissions of the folders, and whether they can be used.
struct FolderFindings {
    let settings: Settings

    var all: [Finding] {
        let findings = dataFolder(settings.dataDir) + downloadsFolder(settings.downloadsDir)
        return findings.isEmpty
            ? [.ok(.folders, "\(settings.dataDir) and \(settings.downloadsDir) can be used.")] : findings
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
