import Downloads
import Formats
import Foundation
import GRDB

/// Forgetting, in small steps and only from the front: behind the first event that is still there none is missing, so
/// a reader of everything either gets all that follows its cursor or is told that it comes too late. The price is that
/// one session that nobody acknowledges keeps what came after it, for the longer time at most. A reader of one session
/// need not care what others had forgotten: for each, the last event that was removed is jobCache.
extension Store {
    /// Removes the oldest events that need not be kept, with the logs of their deliveries.
    ///
    /// - Returns: whether there may be more to remove.
    public func pruneEvents(keeping retention: Retention, limit: Int = 500) async throws -> Bool {
        try await writer.write { transaction in
            guard transaction.allowsRemoval(ofDataKeptFor: retention.acknowledged) else { return false }
            var taken: [String: EventID] = [:]
            let removable = try transaction.oldestEvents(limit).prefix {
                try transaction.isRemovable($0, retention, &taken)
            }
            for row in removable {
                let event: EventID = row["id"]
                try transaction.run("DELETE FROM deliveries WHERE event = ?", [event])
                // One that was pending held up the finish behind it, and the end of its session.
                if transaction.changedRows > 0 { transaction.wake(.deliveries) }
                try transaction.run("DELETE FROM events WHERE id = ?", [event])
                try transaction.remember(removed: event, of: row["session"])
            }
            if !removable.isEmpty {
                transaction.wake(.sessions)
                try transaction.pruneClockJumps()
            }
            return removable.count == limit
        }
    }

    /// Forgets the oldest first answers that have outlived their day.
    ///
    /// - Returns: whether there may be more to forget.
    public func pruneIdempotencyKeys(limit: Int = 500) async throws -> Bool {
        try await writer.write { transaction in
            guard transaction.allowsRemoval(ofDataKeptFor: IdempotencyClaim.lifetime) else { return false }
            try transaction.run(
                """
                DELETE FROM idempotency_keys WHERE rowid IN (
                    SELECT rowid FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ?)
                """, [transaction.now.addingTimeInterval(-IdempotencyClaim.lifetime).milliseconds, limit])
            return transaction.changedRows == limit
        }
    }

    /// - Throws: `eventsPruned` when some that the query asks for are no longer there.
    static func requireUnpruned(_ query: EventQuery, in db: Database) throws {
        guard let after = query.after else { return }
        let removed = try lastRemoved(query, in: db)
        guard after < removed else { return }
        throw StoreError.eventsPruned(after: after, firstAvailable: removed + 1)
    }

    /// The last event that the reader could have wanted and that is no more; 0 when all are there.
    private static func lastRemoved(_ query: EventQuery, in db: Database) throws -> EventID {
        if let job = query.job, try hasItsFirstEvent(job, in: db) { return 0 }
        if let session = try query.session?.text ?? query.job.flatMap({ try Self.session(of: $0, in: db) }) {
            return try EventID.fetchOne(
                db.cachedStatement(sql: "SELECT last_event FROM removed_events WHERE session = ?"),
                arguments: [session]) ?? 0
        }
        // Numbers are given in order and never again: what is missing at the front was removed.
        return try EventID.fetchOne(db.cachedStatement(sql: "SELECT min(id) - 1 FROM events")) ?? lastEvent(in: db)
    }

    /// What is removed is removed from the front.
    private static func hasItsFirstEvent(_ job: JobID, in db: Database) throws -> Bool {
        let first = try String.fetchOne(
            db.cachedStatement(sql: "SELECT type FROM events WHERE job = ? ORDER BY id LIMIT 1"), arguments: [job.text])
        return first == EventType.jobCreated.rawValue
    }

    private static func session(of job: JobID, in db: Database) throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT session FROM jobs WHERE id = ?"), arguments: [job.text])
            ?? String.fetchOne(
                db.cachedStatement(sql: "SELECT session FROM events WHERE job = ? LIMIT 1"), arguments: [job.text])
    }
}
