import Downloads
import Foundation

extension Transaction {
    /// Notes a change in the transaction that makes it: neither is stored without the other.
    ///
    /// - Parameters:
    ///   - note: nil: the change is not the request of a client.
    ///   - target: replaces that of the note.
    ///   - change: what was replaced by what.
    func audit(_ note: AuditNote?, target: String? = nil, change: String? = nil) throws {
        guard let note else { return }
        try insertAudit(note, target: target ?? note.target, .done, reason: nil, change: change, count: 1, at: now)
    }

    func audit(_ refusals: [(key: RefusalLog.Key, refusal: RefusalLog.Refusal)]) throws {
        for (key, refusal) in refusals {
            try insertAudit(
                key.note, target: key.note.target, .refused, reason: key.reason, change: nil, count: refusal.count,
                at: refusal.first)
        }
    }

    /// Writes the entry of an action in steps, or brings it up to date.
    func store(_ record: inout ActionRecord) throws {
        guard let note = record.note else { return }
        let change = record.change
        if let entry = record.entry {
            return try run("UPDATE audit SET change = ? WHERE id = ?", [change, entry])
        }
        record.entry = try row(
            Self.insertAudit + " RETURNING id",
            Self.arguments(note, target: note.target, .done, reason: nil, change: change, count: 1, at: now))?["id"]
    }

    private func insertAudit(
        _ note: AuditNote, target: String?, _ outcome: AuditEntry.Outcome, reason: String?, change: String?, count: Int,
        at time: Date
    ) throws {
        try run(
            Self.insertAudit,
            Self.arguments(
                note, target: target, outcome, reason: reason, change: change, count: count, at: time))
    }

    private static let insertAudit = """
        INSERT INTO audit (time, caller, name, address, action, target, outcome, reason, change, count)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    private static func arguments(
        _ note: AuditNote, target: String?, _ outcome: AuditEntry.Outcome, reason: String?, change: String?, count: Int,
        at time: Date
    ) -> SQLArguments {
        [
            time.milliseconds, note.caller, note.name?.text, note.address, note.action, target, outcome.rawValue,
            reason, change, count,
        ]
    }

    /// Removes the oldest entries that are too old or too many.
    ///
    /// - Returns: whether there may be more to remove.
    func pruneAudit(keeping most: Int, limit: Int) throws -> Bool {
        let oldest = now.addingTimeInterval(-Store.auditRetention).milliseconds
        let expired = confidence.allowsRemoval(ofDataKeptFor: Store.auditRetention, at: now) ? oldest : .min
        return try changedRows(Self.pruneAudit, [expired, most, limit]) == limit
    }

    static let pruneAudit = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE time <= ? OR id <= (SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET ?)
            ORDER BY id LIMIT ?)
        """
}
