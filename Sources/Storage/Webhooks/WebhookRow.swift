import Downloads
import Formats
import Foundation
import GRDB

/// Reads a webhook from a row.
enum WebhookRow {
    static func webhook(_ row: Row) throws -> Webhook {
        guard let secret = WebhookSecret(row["secret"]) else {
            throw StoreError.failed(why: "the secret of webhook \(row["name"] as String) cannot be read")
        }
        return Webhook(
            key: row["key"], session: Name(trusted: row["session"]), name: Name(trusted: row["name"]),
            url: row["url"], events: patterns(row["events"]),
            headers: try row.decoded("headers", default: []), tls: try row.decoded("tls", default: TLSRule()),
            reach: try row.named("reach", as: WebhookReach.self), secret: secret, formerSecrets: try formerSecrets(row),
            state: try state(row),
            createdAt: row.time("created_at"))
    }

    static func text(_ secrets: [FormerSecret]) throws -> String {
        try Stored.text(secrets.map { StoredSecret(secret: $0.secret.text, until: $0.until.milliseconds) })
    }

    private struct StoredSecret: Codable {
        var secret: String
        /// Milliseconds since 1970.
        var until: Int64
    }

    private static func formerSecrets(_ row: Row) throws -> [FormerSecret] {
        try row.decoded("former_secrets", as: [StoredSecret].self).compactMap { stored in
            WebhookSecret(stored.secret).map { FormerSecret($0, until: Date(milliseconds: stored.until)) }
        }
    }

    static func patterns(_ text: String) -> [EventPattern] {
        text.split(separator: " ").map { EventPattern(trusted: String($0)) }
    }

    static func text(_ patterns: [EventPattern]) -> String { patterns.map(\.text).joined(separator: " ") }

    private static func state(_ row: Row) throws -> Webhook.State {
        switch try row.named("state", as: Webhook.State.Name.self) {
        case .enabled: .enabled(failingSince: row.optionalTime("failing_since"))
        case .disabled: .disabled(reason: row["disabled_reason"])
        }
    }
}
