import Foundation
import Sealing
import Storage

/// The integrity of the database, its schema, its space and its key.
struct DatabaseFindings {
    let inspection: DatabaseInspection
    let settings: Settings

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
        let source = settings.key.description(inDataFolder: settings.dataDir)
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
