import Configuration
import CurlClient
import Downloads
import Engine
import Foundation
import Storage

/// Looks for faults of a service, and repairs none. The service may run meanwhile.
struct Examination {
    var settings: Settings
    /// Whether every page, constraint and reference of the database is checked.
    let checksEverything: Bool
    /// Whether the endpoints of webhooks are asked.
    let asksWebhooks: Bool

    func run() async -> [Finding] {
        // Reading the database creates files beside it, so the folders are examined first.
        let folders = FolderFindings(settings: settings).all
        var examination = self
        // A database that cannot be read is a finding of its own.
        let stored =
            try? settings.store.map { try Store.settings(in: $0) } ?? Store.settings(inDataFolder: settings.dataDir)
        examination.settings.start.take(stored: stored ?? [:])
        return await examination.run(after: folders, readsSettings: stored != nil)
    }

    /// - Parameter readsSettings: whether the settings have the values that clients have set.
    private func run(after folders: [Finding], readsSettings: Bool) async -> [Finding] {
        let lock = FolderLock(ofDataFolder: settings.dataDir)
        var findings = configuration + [service(lock)] + folders
        findings += await databaseFindings(isRunning: lock.holder != nil)
        findings += SpaceFindings(settings: settings).all
        findings += LimitFindings(settings: settings, process: lock.holder).all
        var addresses = AddressFindings(policies: DestinationPolicies(settings.start.values))
        if case .hidden = database, settings.store == nil { addresses.areComplete = false }
        if !readsSettings { addresses.areComplete = false }
        return findings + addresses.all
    }

    private var configuration: [Finding] {
        guard let warning = settings.unknownVariables.warning else { return [] }
        return [.warning(.configuration, warning, "Correct the name, or unset the variable.")]
    }

    private func service(_ lock: FolderLock) -> Finding {
        if Sight(of: settings.dataDir) == .absent {
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

    private var database: Sight { Sight(of: settings.dataDir + "/fetchd.sqlite") }

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
        let folder = settings.dataDir
        if let store = settings.store {
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
                inDataFolder: folder, key: settings.key, thoroughly: checksEverything)
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
        guard FileManager.default.fileExists(atPath: settings.dataDir + "/fetchd.mark") else {
            return .skipped(
                .database,
                "There is no database in \(settings.dataDir), so there are no parts, key and webhooks to check.",
                "If the service has run before, name its data folder: --data-dir, FETCHD_DATA_DIR or --config.")
        }
        return Self.unusable(.databaseIncomplete(path: settings.dataDir + "/fetchd.sqlite", .missing))
    }

    private static func unusable(_ error: StoreError) -> Finding {
        .error(.database, error.description, "See docs/operations.md, \"Damage\".")
    }

    private func partFindings(_ inspection: DatabaseInspection, isRunning: Bool) -> [Finding] {
        var parts = PartsInspection(
            ofDownloadsFolder: settings.downloadsDir, promised: inspection.parts,
            sparingWithin: isRunning ? 60 : 0)
        // A job may have ended, and with it its part, since the database was read.
        if isRunning, let present = try? DatabaseInspection.parts(inDataFolder: settings.dataDir) {
            let texts = Set(present.map(\.text))
            parts.missing.removeAll { !texts.contains($0) }
            parts.short.removeAll { !texts.contains($0) }
            parts.orphans.removeAll { name in texts.contains { name.hasPrefix($0) } }
        }
        return PartFindings(parts: parts, promised: inspection.parts.count, folder: settings.downloadsDir).all
    }
}
