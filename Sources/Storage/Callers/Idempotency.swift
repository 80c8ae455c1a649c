import Formats
import Foundation

/// A request that its client may repeat because it does not know whether the first one arrived: the header
/// `Idempotency-Key` of draft-ietf-httpapi-idempotency-key-header.
public struct IdempotencyClaim: Sendable {
    /// The authenticated caller and the route. Each combination has its own keys.
    public var caller: String
    public var route: String
    public var key: String
    /// A hash of the content. The same key with other content is an error.
    public var fingerprint: Data

    public init(caller: String, route: String, key: String, fingerprint: Data) {
        self.caller = caller
        self.route = route
        self.key = key
        self.fingerprint = fingerprint
    }

    /// Seconds for which the first answer is kept: one day.
    public static let lifetime: TimeInterval = 86_400
}

public struct IdempotentResponse: Sendable, Equatable {
    public var location: String?
    public var body: [UInt8]

    public init(location: String?, body: [UInt8]) {
        self.location = location
        self.body = body
    }
}

extension Store {
    /// The answer to the first request; nil when it was not carried out, or is not committed yet.
    ///
    /// - Throws: `idempotencyKeyReused`; `answerLost` when the answer cannot be read any more.
    public func rememberedAnswer(to claim: IdempotencyClaim) async throws(StoreError) -> IdempotentResponse? {
        let now = time.now
        return try await read { [sealer] in try claim.rememberedAnswer(at: now, in: $0, sealer) }
    }
}

extension IdempotencyClaim {
    func rememberedAnswer(at now: Date, in db: SQLConnection, _ sealer: Sealer) throws -> IdempotentResponse? {
        let row = try db.row(
            "SELECT * FROM idempotency_keys WHERE caller = ? AND route = ? AND key = ? AND created_at > ?",
            [caller, route, key, now.addingTimeInterval(-Self.lifetime).milliseconds])
        guard let row else { return nil }
        guard try row["fingerprint"] == fingerprint else { throw StoreError.idempotencyKeyReused(key) }
        return try IdempotentResponse(location: row["location"], body: try sealer.answer(row["answer"], to: self))
    }
}

/// Reads and writes remembered answers in the transaction of the change that they report. So a request is carried out
/// and remembered, or neither. The writer orders concurrent requests: all but the first find the first answer, and none
/// gets "in progress".
extension Transaction {
    /// - Throws: `idempotencyKeyReused`, `answerLost`.
    func rememberedAnswer(to claim: IdempotencyClaim) throws -> IdempotentResponse? {
        try claim.rememberedAnswer(at: now, in: db, sealer)
    }

    /// - Parameter holdsSecrets: whether the answer may show a secret.
    func remember(_ answer: IdempotentResponse, to claim: IdempotencyClaim, holdsSecrets: Bool) throws {
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
