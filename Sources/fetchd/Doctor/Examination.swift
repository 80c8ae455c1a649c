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
        return await examination.run(after: folders)
    }

    private func run(after folders: [Finding]) async -> [Finding] {
        let holder = FolderLock.holder(ofDataFolder: settings.dataDir)
        var findings = [
            holder.map { Finding.ok(.service, "The service runs (process \($0)).") }
                ?? .ok(.service, "No service uses the data folder.")
        ]
        findings += folders
        findings += await databaseFindings(isRunning: holder != nil)
        findings += SpaceFindings(settings: settings).all
        findings += LimitFindings(settings: settings, process: holder).all
        findings += AddressFindings(policies: DestinationPolicies(settings.start.values)).all
        return findings
    }

    private func server(_ store: ServerAddress) -> Finding {
        do {
            _ = try Store.settings(in: store)
            return .ok(.database, "The jobs are in \(store.shown), whose tables fetchd doctor does not check.")
        } catch {
            return .error(.database, error.description, "See docs/postgresql.md.")
        }
    }

    private func databaseFindings(isRunning: Bool) async -> [Finding] {
        let folder = settings.dataDir
        if let store = settings.store {
            return [server(store)] + ClockFindings(storedTime: nil).all
        }
        guard FileManager.default.fileExists(atPath: folder + "/fetchd.sqlite") else {
            return [missingDatabase] + ClockFindings(storedTime: nil).all
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
            return .ok(.database, "There is no database yet.")
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
        return PartFindings(parts: parts, promised: inspection.parts.count).all
    }
}
