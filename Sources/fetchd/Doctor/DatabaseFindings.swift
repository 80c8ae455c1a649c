import Configuration
import CurlClient
import Downloads
import Engine
import Foundation
import Sealing
import Storage
import Webhooks

/// The integrity of the database, its schema, its space and its key.
struct DatabaseFindings {
    let inspection: DatabaseInspection
    let settings: ServiceSettings

    var all: [Finding] { integrity + schema + space + [key] }

    private var integrity: [Finding] {
        let damage = inspection.damage.map {
            Finding.error(
                .database, "The database is damaged: \($0).",
                "Stop the service, and restore a backup (fetchd restore FILE), or recover the readable data with 'sqlite3 fetchd.sqlite .recover'."
            )
        }
        let drifts = inspection.drifts.map {
            Finding.warning(
                .database, "The kept counts are wrong. \($0)",
                "The service corrects them within an hour. Report it as a fault.")
        }
        let all = damage + drifts
        return all.isEmpty ? [.ok(.database, "The database is complete: \(inspection.contents).")] : all
    }

    private var schema: [Finding] {
        guard inspection.contents.schema < inspection.latestSchema else { return [] }
        return [
            .warning(
                .database,
                "The database has the schema version \(inspection.contents.schema). This program upgrades it to \(inspection.latestSchema) at its next start.",
                "Make a backup before: fetchd backup FILE. An earlier version of fetchd cannot read the upgraded database."
            )
        ]
    }

    private var space: [Finding] {
        guard inspection.space.isMostlyFree else { return [] }
        let (size, free) = (Self.text(inspection.space.size), Self.text(inspection.space.free))
        return [
            .warning(
                .database, "\(free) of the \(size) of the database file are free.",
                "New jobs use this space. To give it back, stop the service and run: fetchd compact")
        ]
    }

    private var key: Finding {
        let source = settings.start.values.key.description(inDataFolder: settings.dataFolder)
        return switch inspection.key {
        case .fits:
            .ok(
                .key,
                "\(Self.capitalized(source)) fits the database. Keep a copy of it in another place than the backups.")
        case .notYetUsed: .ok(.key, "The database has no key yet. The next start takes or makes one.")
        case .missing(let lost) where lost.isEmpty:
            .ok(.key, "\(Self.capitalized(source)) is missing, but it has sealed nothing. The next start makes one.")
        case .missing:
            .error(
                .key, "\(Self.capitalized(source)) is missing, but secrets in the database are sealed with it.",
                "The service does not start without it. Put the key back. If it is lost, start once with --accept-lost-secrets: jobs with secrets then wait for credentials, and webhooks are disabled."
            )
        case .wrong:
            .error(
                .key, "The database is sealed with another key than \(source).",
                "Start fetchd with the right key. If it is lost, start once with --accept-lost-secrets.")
        case .unusable(let why): .error(.key, why, "The service does not start with this key.")
        }
    }

    private static func text(_ bytes: Int64) -> String { bytes.formatted(.byteCount(style: .file)) }

    private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

/// The part files beside the parts that the database promises.
struct PartFindings {
    let parts: PartsInspection
    /// The number of promised parts.
    let promised: Int
    /// The downloads folder.
    let folder: String

    var all: [Finding] {
        if let why = parts.unreadable {
            return [.skipped(.parts, "The parts in \(folder) cannot be looked at: \(why).", Finding.asUserOfService)]
        }
        let findings = [missing, short, orphans].compactMap(\.self)
        guard findings.isEmpty else { return findings }
        let all =
            promised == 0
            ? "No unfinished download has a part." : "All parts of unfinished downloads are there: \(promised)."
        return [.ok(.parts, all)]
    }

    private var missing: Finding? {
        Self.named(parts.missing).map {
            .warning(
                .parts, "\(Self.files(parts.missing.count)) missing: \($0).",
                "Their jobs begin again from 0. If another disk should be mounted there, mount it before you start the service."
            )
        }
    }

    private var short: Finding? {
        Self.named(parts.short).map {
            .warning(
                .parts, "\(Self.files(parts.short.count)) shorter than stored: \($0).",
                "Their jobs begin again from 0. Look for faults of the disk.")
        }
    }

    private var orphans: Finding? {
        Self.named(parts.orphans).map {
            let bytes = parts.orphanedBytes.formatted(.byteCount(style: .file, spellsOutZero: false))
            let files =
                parts.orphans.count == 1
                ? "1 part file (\(bytes)) belongs" : "\(parts.orphans.count) part files (\(bytes)) belong"
            return .warning(
                .parts, "\(files) to no job: \($0).",
                "The next start removes them, except for files that are older than the database: remove those if no other copy of the database needs them."
            )
        }
    }

    private static func files(_ count: Int) -> String {
        count == 1 ? "The file of 1 part is" : "The files of \(count) parts are"
    }

    /// The first names; nil if there are none.
    private static func named(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        return names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", ..." : "")
    }
}

/// Whether webhooks are enabled and their endpoints can be reached.
struct WebhookFindings {
    let webhooks: [Webhook]
    let settings: ServiceSettings

    func all(_ asksEndpoints: Bool) async -> [Finding] {
        let findings = disabled + (asksEndpoints ? await unreachable() : [])
        guard findings.isEmpty else { return findings }
        guard !webhooks.isEmpty else { return [.ok(.webhooks, "There are no webhooks.")] }
        let isOne = webhooks.count == 1
        let count = isOne ? "1 webhook is enabled" : "\(webhooks.count) webhooks are enabled"
        let answer = isOne ? "its host answers" : "their hosts answer"
        let unasked = isOne ? "its host was not asked" : "their hosts were not asked"
        return [
            .ok(
                .webhooks,
                "\(count), and \(asksEndpoints ? answer : unasked)."
            )
        ]
    }

    private var disabled: [Finding] {
        webhooks.compactMap { webhook in
            guard case .disabled(let reason) = webhook.state else { return nil }
            return .warning(
                .webhooks, "The webhook \(webhook.name) of session \(webhook.session) is disabled. \(reason)",
                "Correct the endpoint, and run: fetchd webhook enable \(webhook.name) --session \(webhook.session)")
        }
    }

    /// The service asks them with the same rules for addresses.
    private func unreachable() async -> [Finding] {
        let enabled = webhooks.filter { if case .enabled = $0.state { true } else { false } }
        guard !enabled.isEmpty else { return [] }
        let policies = DestinationPolicies(settings.start.values)
        var options = CurlClient.Options()
        options.admitsAddress = policies.webhooks.admits
        guard let client = try? CurlClient(options: options) else {
            return [.skipped(.webhooks, "The hosts of the webhooks could not be asked.", "Run the command again.")]
        }
        let probe = EndpointProbe(client: client, publicAddresses: policies.limitedWebhooks)
        var findings: [Finding] = []
        for webhook in enabled {
            guard let fault = await probe.fault(of: webhook) else { continue }
            findings.append(
                .warning(
                    .webhooks,
                    "The endpoint of the webhook \(webhook.name) of session \(webhook.session) cannot be reached: \(fault).",
                    "Start the consumer, or correct the address or the network. Deliveries are repeated for days."))
        }
        await client.shutdown()
        return findings
    }
}
