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
