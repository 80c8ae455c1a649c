import Configuration
import CurlClient
import Downloads
import Engine
import Foundation
import Glibc
import Storage

/// Looks for faults of a service, and repairs none. The service may run meanwhile.
struct Examination {
    var settings: ServiceSettings
    /// Whether every page, constraint and reference of the database is checked.
    let checksEverything: Bool
    /// Whether the endpoints of webhooks are asked.
    let asksWebhooks: Bool

    func run() async -> [Finding] {
        // Reading the database creates files beside it, so the folders are examined first.
        let folders = FolderFindings(settings: settings).all
        var examination = self
        // A database that cannot be read is a finding of its own.
        let stored = try? settings.stored()
        examination.settings.start.take(stored: stored ?? [:])
        return await examination.run(after: folders, readsSettings: stored != nil)
    }

    /// - Parameter readsSettings: whether the settings have the values that clients have set.
    private func run(after folders: [Finding], readsSettings: Bool) async -> [Finding] {
        let lock = FolderLock(ofDataFolder: settings.dataFolder)
        var findings = configuration + [service(lock)] + folders
        findings += await databaseFindings(isRunning: lock.holder != nil)
        findings += SpaceFindings(settings: settings).all
        findings += LimitFindings(settings: settings, process: lock.holder).all
        var addresses = AddressFindings(policies: DestinationPolicies(settings.start.values))
        if case .hidden = database, settings.start.values.store == nil { addresses.areComplete = false }
        if !readsSettings { addresses.areComplete = false }
        return findings + addresses.all
    }

    private var configuration: [Finding] {
        guard let warning = settings.unknownVariables.warning else { return [] }
        return [.warning(.configuration, warning, "Correct the name, or unset the variable.")]
    }

    private func service(_ lock: FolderLock) -> Finding {
        if Sight(of: settings.dataFolder) == .absent {
            return .skipped(
                .service, "There is no data folder, so no service uses it.", "Name the data folder of the service.")
        }
        return switch lock {
        case .held(let process): .ok(.service, "The service runs (process \(process)).")
        case .free: .ok(.service, "No service uses the data folder.")
        case .unknown(let why):
            .skipped(.service, "Whether a service runs is not known: \(why).", Finding.asUserOfService)
        }
    }

    private var database: Sight { Sight(of: settings.dataFolder + "/fetchd.sqlite") }

    private func server(_ store: ServerAddress) -> Finding {
        do {
            _ = try Store.settings(in: store)
            return .skipped(
                .database,
                "The jobs are in \(store.shown), which answers. Its tables, and the parts, the key and the webhooks of its jobs, are not checked.",
                "Check the database with PostgreSQL's own tools. See docs/postgresql.md.")
        } catch {
            return .error(.database, error.description, "See docs/postgresql.md.")
        }
    }

    private func databaseFindings(isRunning: Bool) async -> [Finding] {
        let folder = settings.dataFolder
        if let store = settings.start.values.store {
            return [server(store)] + ClockFindings(storedTime: nil).all
        }
        switch database {
        case .present: break
        case .absent: return [missingDatabase] + ClockFindings(storedTime: nil).all
        case .hidden(let why):
            let finding = Finding.skipped(
                .database,
                "\(folder)/fetchd.sqlite cannot be looked at: \(why). So the parts, the key and the webhooks are not checked.",
                Finding.asUserOfService)
            return [finding] + ClockFindings(storedTime: nil).all
        }
        let inspection: DatabaseInspection
        do throws(StoreError) {
            inspection = try DatabaseInspection.read(
                inDataFolder: folder, key: settings.start.values.key, thoroughly: checksEverything)
        } catch {
            return [Self.unusable(error)] + ClockFindings(storedTime: nil).all
        }
        var findings = DatabaseFindings(inspection: inspection, settings: settings).all
        findings += partFindings(inspection, isRunning: isRunning)
        findings += ClockFindings(storedTime: inspection.storedTime).all
        return findings + (await WebhookFindings(webhooks: inspection.webhooks, settings: settings).all(asksWebhooks))
    }

    /// The service has written the mark beside its database.
    private var missingDatabase: Finding {
        guard FileManager.default.fileExists(atPath: settings.dataFolder + "/fetchd.mark") else {
            return .skipped(
                .database,
                "There is no database in \(settings.dataFolder), so there are no parts, key and webhooks to check.",
                "If the service has run before, name its data folder: --data-dir, FETCHD_DATA_DIR or --config.")
        }
        return Self.unusable(.databaseIncomplete(path: settings.dataFolder + "/fetchd.sqlite", .missing))
    }

    private static func unusable(_ error: StoreError) -> Finding {
        .error(.database, error.description, "See docs/operations.md, \"Damage\".")
    }

    private func partFindings(_ inspection: DatabaseInspection, isRunning: Bool) -> [Finding] {
        var parts = PartsInspection(
            ofDownloadsFolder: settings.downloadsFolder, promised: inspection.parts,
            sparingWithin: isRunning ? 60 : 0)
        // A job may have ended, and with it its part, since the database was read.
        if isRunning, let present = try? DatabaseInspection.parts(inDataFolder: settings.dataFolder) {
            let texts = Set(present.map(\.text))
            parts.missing.removeAll { !texts.contains($0) }
            parts.short.removeAll { !texts.contains($0) }
            parts.orphans.removeAll { name in texts.contains { name.hasPrefix($0) } }
        }
        return PartFindings(parts: parts, promised: inspection.parts.count, folder: settings.downloadsFolder).all
    }
}

/// The lock of a data folder. A service holds it while it uses the folder. It is looked at without taking it, which could
/// make a start fail.
enum FolderLock: Equatable {
    /// A process with this identifier holds it.
    case held(Int)
    case free
    /// The system does not show it. The reason is the end of a sentence.
    case unknown(String)

    init(ofDataFolder path: String) {
        let file = path + "/lock"
        switch Sight(of: file) {
        case .absent: self = .free
        case .hidden(let why): self = .unknown("\(file) cannot be looked at: \(why)")
        case .present:
            var status = stat()
            guard stat(file, &status) == 0, let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
            else {
                self = .unknown("/proc/locks cannot be read")
                return
            }
            self = Self.holder(ofInode: UInt64(status.st_ino), in: locks).map(FolderLock.held) ?? .free
        }
    }

    var holder: Int? {
        switch self {
        case .held(let process): process
        case .free, .unknown: nil
        }
    }

    /// - Parameter locks: the text of /proc/locks (proc_locks(5)), such as `1: FLOCK ADVISORY WRITE 123 08:01:456 0 EOF`.
    static func holder(ofInode inode: UInt64, in locks: String) -> Int? {
        for line in locks.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int(words[4]) else {
                continue
            }
            if words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode { return process }
        }
        return nil
    }
}

/// Whether this process can see a file or a folder.
enum Sight: Equatable {
    case present
    case absent
    /// The file may exist. The reason is that of the system, such as `Permission denied`.
    case hidden(String)

    init(of path: String) {
        var status = stat()
        guard stat(path, &status) != 0 else {
            self = .present
            return
        }
        let reason = errno
        self = reason == ENOENT || reason == ENOTDIR ? .absent : .hidden(String(cString: strerror(reason)))
    }
}
