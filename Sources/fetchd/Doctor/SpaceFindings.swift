import Foundation
import Glibc

/// The free space of the disks.
struct SpaceFindings {
    let settings: Settings

    /// Bytes. Below the first number, changes of jobs soon cannot be stored.
    private static let (least, little): (UInt64, UInt64) = (16 << 20, 256 << 20)

    var all: [Finding] {
        let findings = dataFolder + downloadsFolder
        return findings.isEmpty ? [.ok(.space, "Both folders have free space.")] : findings
    }

    private var dataFolder: [Finding] {
        guard let disk = Self.disk(of: settings.dataDir) else { return [Self.unknown(settings.dataDir)] }
        if disk.hasNoFiles { return [Self.lacksFiles(settings.dataDir)] }
        guard disk.free < Self.little else { return [] }
        let message = "The disk of the data folder has \(Self.text(disk.free)) left."
        return disk.free < Self.least
            ? [.error(.space, message, "Free some space: fetchd refuses changes that it cannot store.")]
            : [.warning(.space, message, "Free some space, or move the data folder.")]
    }

    private var downloadsFolder: [Finding] {
        guard let disk = Self.disk(of: settings.downloadsDir) else { return [Self.unknown(settings.downloadsDir)] }
        if disk.hasNoFiles { return [Self.lacksFiles(settings.downloadsDir)] }
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
