import Configuration
import CurlClient
import Downloads
import Engine
import Foundation
import Sealing
import Storage
import StoragePostgres
import StorageSQLite
import Webhooks

extension DoctorReport {
    /// Looks at the database, and at what depends on its contents: the key, the parts, the clock and the webhooks.
    mutating func checkDatabase(thoroughly: Bool, asksWebhooks: Bool, isRunning: Bool) async {
        let folder = settings.dataFolder
        if let store = settings.start.values.store { return checkServer(store) }
        switch databaseFile {
        case .present: break
        case .absent:
            reportMissingDatabase()
            return checkClock(storedTime: nil)
        case .hidden(let why):
            skip(
                .database,
                "\(folder)/fetchd.sqlite cannot be looked at: \(why). So the parts, the key and the webhooks are not checked.",
                Self.asUserOfService)
            return checkClock(storedTime: nil)
        }
        let inspection: DatabaseInspection
        do throws(StoreError) {
            inspection = try DatabaseInspection.read(
                inDataFolder: folder, key: settings.start.values.key, thoroughly: thoroughly)
        } catch {
            report(unusable: error)
            return checkClock(storedTime: nil)
        }
        checkContents(inspection)
        checkKey(inspection.key)
        checkParts(inspection, isRunning: isRunning)
        checkClock(storedTime: inspection.storedTime)
        await checkWebhooks(inspection.webhooks, asksEndpoints: asksWebhooks)
    }

    var databaseFile: Sight { Sight(of: settings.dataFolder + "/fetchd.sqlite") }

    private mutating func checkServer(_ store: ServerAddress) {
        do {
            _ = try Store.settings(inServer: store.url)
            skip(
                .database,
                "The jobs are in \(store.shown), which answers. Its tables, and the parts, the key and the webhooks of its jobs, are not checked.",
                "Check the database with PostgreSQL's own tools. See docs/postgresql.md.")
        } catch {
            fail(.database, error.description, "See docs/postgresql.md.")
        }
        checkClock(storedTime: nil)
    }

    /// The service has written the mark beside its database.
    private mutating func reportMissingDatabase() {
        guard FileManager.default.fileExists(atPath: settings.dataFolder + "/fetchd.mark") else {
            return skip(
                .database,
                "There is no database in \(settings.dataFolder), so there are no parts, key and webhooks to check.",
                "If the service has run before, name its data folder: --data-dir, FETCHD_DATA_DIR or --config.")
        }
        report(unusable: .databaseIncomplete(path: settings.dataFolder + "/fetchd.sqlite", .missing))
    }

    private mutating func report(unusable error: StoreError) {
        fail(.database, error.description, "See docs/operations.md, \"Damage\".")
    }

    private mutating func checkContents(_ inspection: DatabaseInspection) {
        for damage in inspection.damage {
            fail(
                .database, "The database is damaged: \(damage).",
                "Stop the service, and restore a backup (fetchd restore FILE), or recover the readable data with 'sqlite3 fetchd.sqlite .recover'."
            )
        }
        for drift in inspection.drifts {
            warn(
                .database, "The kept counts are wrong. \(drift)",
                "The service corrects them within an hour. Report it as a fault.")
        }
        succeedIfNothing(.database, "The database is complete: \(inspection.contents).")
        if inspection.contents.schema < inspection.latestSchema {
            warn(
                .database,
                "The database has the schema version \(inspection.contents.schema). This program upgrades it to \(inspection.latestSchema) at its next start.",
                "Make a backup before: fetchd backup FILE. An earlier version of fetchd cannot read the upgraded database."
            )
        }
        guard inspection.space.isMostlyFree else { return }
        let style = ByteCountFormatStyle(style: .file)
        warn(
            .database,
            "\(inspection.space.free.formatted(style)) of the \(inspection.space.size.formatted(style)) of the database file are free.",
            "New jobs use this space. To give it back, stop the service and run: fetchd compact")
    }

    private mutating func checkKey(_ finding: DatabaseInspection.KeyFinding) {
        let source = settings.start.values.key.description(inDataFolder: settings.dataFolder)
        let subject = source.prefix(1).uppercased() + source.dropFirst()
        switch finding {
        case .fits:
            succeed(.key, "\(subject) fits the database. Keep a copy of it in another place than the backups.")
        case .notYetUsed: succeed(.key, "The database has no key yet. The next start takes or makes one.")
        case .missing(let lost) where lost.isEmpty:
            succeed(.key, "\(subject) is missing, but it has sealed nothing. The next start makes one.")
        case .missing:
            fail(
                .key, "\(subject) is missing, but secrets in the database are sealed with it.",
                "The service does not start without it. Put the key back. If it is lost, start once with --accept-lost-secrets: jobs with secrets then wait for credentials, and webhooks are disabled."
            )
        case .wrong:
            fail(
                .key, "The database is sealed with another key than \(source).",
                "Start fetchd with the right key. If it is lost, start once with --accept-lost-secrets.")
        case .unusable(let why): fail(.key, why, "The service does not start with this key.")
        }
    }
}

// MARK: - Parts

extension DoctorReport {
    /// Compares the part files with the parts that the database promises.
    private mutating func checkParts(_ inspection: DatabaseInspection, isRunning: Bool) {
        let rules = settings.start.values.locations
        var folders: [Name: (path: String, incomplete: String?)] = [.default: (settings.downloadsFolder, nil)]
        for rule in rules {
            // The parts of objects are in the downloads folder.
            folders[rule.name] = rule.folder.map { ($0.path, $0.incompletePath) } ?? folders[.default]
        }
        for name in inspection.locations.union(folders.keys).sorted(by: { $0.text < $1.text }) {
            guard let folder = folders[name] else {
                warn(
                    .parts, "Jobs need the location \(name), which no option declares.",
                    "They wait until the service starts with --location \(name)=PATH. Or give them another one: fetchd update --location."
                )
                continue
            }
            let stored = inspection.parts.filter { $0.key.location == name }
            checkParts(
                in: folder.path,
                PartsInspection(
                    ofFolder: folder.path, incomplete: folder.incomplete, stored: stored,
                    sparingWithin: isRunning ? 60 : 0), isRunning: isRunning)
        }
        let promised = inspection.parts.count
        succeedIfNothing(
            .parts,
            promised == 0
                ? "No unfinished download has a part." : "All parts of unfinished downloads are there: \(promised).")
    }

    private mutating func checkParts(in folder: String, _ found: PartsInspection, isRunning: Bool) {
        var parts = found
        // A job may have ended, and with it its part, since the database was read.
        if isRunning, let present = try? DatabaseInspection.parts(inDataFolder: settings.dataFolder) {
            let texts = Set(present.map(\.text))
            parts.missing.removeAll { !texts.contains($0) }
            parts.short.removeAll { !texts.contains($0) }
            parts.orphans.removeAll { name in texts.contains { name.hasPrefix($0) } }
        }
        if let why = parts.unreadable {
            return skip(.parts, "The parts in \(folder) cannot be looked at: \(why).", Self.asUserOfService)
        }
        warn(
            of: parts.missing, "missing",
            "Their jobs begin again from 0. If another disk should be mounted there, mount it before you start the service."
        )
        warn(
            of: parts.short, "shorter than stored",
            "Their jobs begin again from 0. Look for faults of the disk.")
        if !parts.orphans.isEmpty {
            let bytes = parts.orphanedBytes.formatted(.byteCount(style: .file, spellsOutZero: false))
            let isOne = parts.orphans.count == 1
            let files = isOne ? "1 part file (\(bytes)) belongs" : "\(parts.orphans.count) part files (\(bytes)) belong"
            warn(
                .parts, "\(files) to no job: \(Self.list(parts.orphans)).",
                "The next start removes them, except for files that are older than the database: remove those if no other copy of the database needs them."
            )
        }
    }

    private mutating func warn(of parts: [String], _ fault: String, _ remedy: String) {
        guard !parts.isEmpty else { return }
        let files = parts.count == 1 ? "The file of 1 part is" : "The files of \(parts.count) parts are"
        warn(.parts, "\(files) \(fault): \(Self.list(parts)).", remedy)
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", ..." : "")
    }
}

// MARK: - Webhooks

extension DoctorReport {
    private mutating func checkWebhooks(_ webhooks: [Webhook], asksEndpoints: Bool) async {
        for webhook in webhooks {
            guard case .disabled(let reason) = webhook.state else { continue }
            warn(
                .webhooks, "The webhook \(webhook.name) of session \(webhook.session) is disabled. \(reason)",
                "Correct the endpoint, and run: fetchd webhook enable \(webhook.name) --session \(webhook.session)")
        }
        if asksEndpoints { await askEndpoints(webhooks.filter { if case .enabled = $0.state { true } else { false } }) }
        guard !webhooks.isEmpty else { return succeed(.webhooks, "There are no webhooks.") }
        let isOne = webhooks.count == 1
        let count = isOne ? "1 webhook is enabled" : "\(webhooks.count) webhooks are enabled"
        let answer = isOne ? "its host answers" : "their hosts answer"
        let unasked = isOne ? "its host was not asked" : "their hosts were not asked"
        succeedIfNothing(.webhooks, "\(count), and \(asksEndpoints ? answer : unasked).")
    }

    /// Asks them with the rules for addresses that the service applies.
    private mutating func askEndpoints(_ webhooks: [Webhook]) async {
        guard !webhooks.isEmpty else { return }
        let policies = DestinationPolicies(settings.start.values)
        var options = CurlClient.Options()
        options.admitsAddress = policies.webhooks.admits
        guard let client = try? CurlClient(options: options) else {
            return skip(.webhooks, "The hosts of the webhooks could not be asked.", "Run the command again.")
        }
        let probe = EndpointProbe(client: client, publicAddresses: policies.limitedWebhooks)
        for webhook in webhooks {
            guard let fault = await probe.fault(of: webhook) else { continue }
            warn(
                .webhooks,
                "The endpoint of the webhook \(webhook.name) of session \(webhook.session) cannot be reached: \(fault).",
                "Start the consumer, or correct the address or the network. Deliveries are repeated for days.")
        }
        await client.shutdown()
    }
}
