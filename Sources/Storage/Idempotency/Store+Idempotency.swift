import Formats
import Foundation

extension Store {
    /// The answer to the first request; nil when it was not carried out, or is not committed yet.
    ///
    /// - Throws: `idempotencyKeyReused`; `answerLost` when the answer cannot be read any more.
    public func rememberedAnswer(to claim: IdempotencyClaim) async throws(StoreError) -> RememberedAnswer? {
        let now = time.now
        return try await read { [sealer] in try claim.rememberedAnswer(at: now, in: $0, sealer) }
    }
}

extension IdempotencyClaim {
    func rememberedAnswer(at now: Date, in db: SQLConnection, _ sealer: Sealer) throws -> RememberedAnswer? {
        let row = try db.row(
            "SELECT * FROM idempotency_keys WHERE caller = ? AND route = ? AND key = ? AND created_at > ?",
            [caller, route, key, now.addingTimeInterval(-Self.lifetime).milliseconds])
        guard let row else { return nil }
        guard row["fingerprint"] == fingerprint else { throw StoreError.idempotencyKeyReused(key) }
        return RememberedAnswer(location: row["location"], body: try sealer.answer(row["answer"], to: self))
    }
}
