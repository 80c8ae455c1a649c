import Formats
import Foundation
import GRDB

/// First answers are read and written in the transaction that does what they report: a request is either not carried
/// out and not remembered, or both. Requests that arrive at once meet here one after another, so that all but the first
/// find its answer, and none has to be told that another is in flight.
extension Transaction {
    /// - Throws: `idempotencyKeyReused`.
    func rememberedAnswer(to claim: IdempotencyClaim) throws -> RememberedAnswer? {
        try claim.rememberedAnswer(at: now, in: db)
    }

    func remember(_ answer: RememberedAnswer, to claim: IdempotencyClaim) throws {
        // One that has outlived its day makes room.
        try run(
            """
            INSERT OR REPLACE INTO idempotency_keys (caller, route, key, fingerprint, location, answer, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                claim.caller, claim.route, claim.key, claim.fingerprint, answer.location, Data(answer.body),
                now.milliseconds,
            ])
    }
}

extension Store {
    /// What the request was answered the first time; nil when it was not carried out yet, or is being so.
    ///
    /// - Throws: `idempotencyKeyReused`.
    public func rememberedAnswer(to claim: IdempotencyClaim) throws(StoreError) -> RememberedAnswer? {
        let now = time.now
        return try read { try claim.rememberedAnswer(at: now, in: $0) }
    }
}

extension IdempotencyClaim {
    fileprivate func rememberedAnswer(at now: Date, in db: Database) throws -> RememberedAnswer? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT * FROM idempotency_keys WHERE caller = ? AND route = ? AND key = ? AND created_at > ?"),
            arguments: [caller, route, key, now.addingTimeInterval(-Self.lifetime).milliseconds])
        guard let row else { return nil }
        guard row["fingerprint"] == fingerprint else { throw StoreError.idempotencyKeyReused(key) }
        return RememberedAnswer(location: row["location"], body: Array(row["answer"] as Data))
    }
}
