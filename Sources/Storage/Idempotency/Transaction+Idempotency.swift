import Formats
import Foundation

/// Reads and writes remembered answers in the transaction of the change that they report. So a request is carried out
/// and remembered, or neither. The writer orders concurrent requests: all but the first find the first answer, and none
/// gets "in progress".
extension Transaction {
    /// - Throws: `idempotencyKeyReused`, `answerLost`.
    func rememberedAnswer(to claim: IdempotencyClaim) throws -> RememberedAnswer? {
        try claim.rememberedAnswer(at: now, in: db, sealer)
    }

    /// - Parameter holdsSecrets: whether the answer may show a secret.
    func remember(_ answer: RememberedAnswer, to claim: IdempotencyClaim, holdsSecrets: Bool) throws {
        // Replaces an expired answer.
        try run(
            """
            INSERT INTO idempotency_keys (caller, route, key, fingerprint, location, answer, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (caller, route, key) DO UPDATE SET fingerprint = excluded.fingerprint,
                location = excluded.location, answer = excluded.answer, created_at = excluded.created_at
            """,
            [
                claim.caller, claim.route, claim.key, claim.fingerprint, answer.location,
                sealer.answer(answer.body, to: claim, holdsSecrets: holdsSecrets), now.milliseconds,
            ])
    }
}
