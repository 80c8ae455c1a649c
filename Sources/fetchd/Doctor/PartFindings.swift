import Engine
import Foundation

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
