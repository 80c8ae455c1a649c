import Engine
import Foundation

/// The part files beside the parts that the database promises.
struct PartFindings {
    let parts: PartsInspection
    /// The number of promised parts.
    let promised: Int

    var all: [Finding] {
        let findings = [missing, short, orphans].compactMap(\.self)
        return findings.isEmpty ? [.ok(.parts, "All \(promised) parts of unfinished downloads are there.")] : findings
    }

    private var missing: Finding? {
        Self.named(parts.missing).map {
            .warning(
                .parts, "The files of \(parts.missing.count) parts are missing: \($0).",
                "Their jobs begin again from 0. If another disk should be mounted there, mount it before you start the service."
            )
        }
    }

    private var short: Finding? {
        Self.named(parts.short).map {
            .warning(
                .parts, "The files of \(parts.short.count) parts are shorter than stored: \($0).",
                "Their jobs begin again from 0. Look for faults of the disk.")
        }
    }

    private var orphans: Finding? {
        Self.named(parts.orphans).map {
            let bytes = parts.orphanedBytes.formatted(.byteCount(style: .file))
            return .warning(
                .parts, "\(parts.orphans.count) part files (\(bytes)) belong to no job: \($0).",
                "The next start removes them, except for files that are older than the database: remove those if no other copy of the database needs them."
            )
        }
    }

    /// The first names; nil if there are none.
    private static func named(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        return names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", ..." : "")
    }
}
