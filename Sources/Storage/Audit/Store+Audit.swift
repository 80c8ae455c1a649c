import Downloads
import Foundation

/// The audit log: administrative changes, and refused requests.
extension Store {
    /// Seconds for which entries are kept: 90 days.
    public static let auditRetention: TimeInterval = 7_776_000
    /// The number of entries that are kept at most.
    public static let mostAuditEntries = 100_000

    /// The entries after a number, the oldest first.
    public func audit(after: Int64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await read { db in
            try db.rows("SELECT * FROM audit WHERE id > ? ORDER BY id LIMIT ?", [after, limit]).map(Self.entry)
        }
    }

    private static func entry(_ row: SQLRow) throws -> AuditEntry {
        let note = AuditNote(
            caller: row["caller"], name: (row["name"] as String?).map { Name(trusted: $0) }, address: row["address"],
            action: row["action"], target: row["target"])
        return AuditEntry(
            id: row["id"], time: row.time("time"), note: note,
            outcome: try row.named("outcome", as: AuditEntry.Outcome.self), reason: row["reason"],
            change: row["change"],
            count: row["count"])
    }

    /// Stores changes of settings that no client has made, in one commit.
    ///
    /// - Parameter note: what has made them.
    public func audit(_ changes: [SettingChange], by note: AuditNote) async throws {
        try await writer.write { transaction in
            for change in changes { try transaction.audit(note, target: change.name, change: change.description) }
        }
    }

    /// Stores the refusals since the last call, in one commit.
    public func storeRefusals() async throws {
        let taken = refusals.takeAll()
        guard !taken.isEmpty else { return }
        do {
            try await writer.write { try $0.audit(taken) }
        } catch {
            refusals.giveBack(taken)
            throw error
        }
    }

    /// - Parameters:
    ///   - most: the number of entries that are kept at most.
    ///   - limit: the number of entries that are removed at most.
    /// - Returns: whether there may be more to remove.
    public func pruneAudit(keeping most: Int = mostAuditEntries, limit: Int = 500) async throws -> Bool {
        try await writer.write { try $0.pruneAudit(keeping: most, limit: limit) }
    }
}
