import Base
import Downloads
import Formats
import Foundation

/// A key of the service that signs requests to webhooks (`v1a`). All nodes have the same ones.
public struct WebhookKey: Sendable, Equatable {
    public var id: String
    /// `whpk_` and the base64 of the public key (Standard Webhooks 1.0.0).
    public var publicKey: String
    /// nil for the active key; the other ones sign too until then.
    public var expiresAt: Date?
}

extension Schema {
    /// - `private_key`: base64.
    /// - `expires_at`: NULL for the active key.
    static let webhookKeys = Table(
        name: "webhook_keys",
        columns: [
            .text("id", "NOT NULL PRIMARY KEY"), .text("public_key", "NOT NULL"), .sealed("private_key", "NOT NULL"),
            .integer("created_at", "NOT NULL"), .moved("expires_at", by: .where("expires_at IS NOT NULL")),
        ],
        since: 25, sealedBy: ["id"])
}

extension Store {
    /// The keys that sign now, the active one first; none before a webhook asks for them.
    public func webhookKeys() async throws(StoreError) -> [WebhookKey] {
        let now = time.now.milliseconds
        return try await read { db in
            try db.rows(Self.keys, [now]).map { row in
                try WebhookKey(
                    id: row["id"], publicKey: row["public_key"], expiresAt: row.optionalTime("expires_at"))
            }
        }
    }

    /// Makes another key. The former ones sign for one more day.
    public func rotateWebhookKey(audit note: AuditNote?) async throws {
        try await writer.write { transaction in
            try transaction.makeWebhookKey()
            try transaction.audit(note)
        }
    }

    /// The private keys that sign now. Those whose seal cannot be opened are left out.
    func signingKeys(in db: SQLConnection, _ sealer: Sealer) throws -> [SigningKey] {
        try db.rows(Self.keys, [time.now.milliseconds]).compactMap { row in
            let id: String = try row["id"]
            let opened = try sealer.open(row["private_key"], at: SecretColumn.webhookKey.place(id))
            return opened.isLost ? nil : Data(base64Encoded: opened.text).flatMap { SigningKey(Array($0)) }
        }
    }

    private static let keys =
        "SELECT * FROM webhook_keys WHERE expires_at IS NULL OR expires_at > ? ORDER BY expires_at IS NULL DESC, id DESC"
}

extension Transaction {
    /// Makes the first key, unless there is an active one that can be read.
    func requireWebhookKey() throws {
        let active = try row("SELECT * FROM webhook_keys WHERE expires_at IS NULL")
        let isReadable: Bool? = try active.map { row in
            let id: String = try row["id"]
            return try !sealer.open(row["private_key"], at: SecretColumn.webhookKey.place(id)).isLost
        }
        if isReadable != true { try makeWebhookKey() }
    }

    fileprivate func makeWebhookKey() throws {
        let end = now.addingTimeInterval(Self.timeOfFormerKeys)
        try run("DELETE FROM webhook_keys WHERE expires_at <= ?", [now.milliseconds])
        try run("UPDATE webhook_keys SET expires_at = ? WHERE expires_at IS NULL", [end.milliseconds])
        let (id, key) = ("whk_\(nextULID())", SigningKey.random())
        try run(
            "INSERT INTO webhook_keys (id, public_key, private_key, created_at) VALUES (?, ?, ?, ?)",
            [
                id, "whpk_" + Data(key.publicKey).base64EncodedString(),
                sealer.privateKey(Data(key.bytes).base64EncodedString(), ofKey: id), now.milliseconds,
            ])
    }

    /// Seconds.
    private static let timeOfFormerKeys: TimeInterval = 24 * 3600
}
