import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads a webhook from a row.
enum WebhookRow {
    static func webhook(_ row: SQLRow, _ sealer: Sealer) throws -> Webhook {
        let url = try opened(row, .webhookURL, sealer)
        let headers = try opened(row, .webhookHeaders, sealer)
        let secret = try opened(row, .webhookSecret, sealer)
        let formerSecrets = try opened(row, .webhookFormerSecrets, sealer).text ?? "[]"
        var lost: Set<SecretMember> = []
        if url.isLost { lost.insert(.url) }
        if headers.isLost { lost.insert(.headers) }
        if secret.isLost || secret.text == "" { lost.insert(.secret) }
        return Webhook(
            key: row["key"], session: Name(trusted: row["session"]), name: Name(trusted: row["name"]),
            url: url.text ?? "", events: patterns(row["events"]),
            headers: try headers.text.map { try Stored.value([HeaderField].self, from: $0) } ?? [],
            tls: try row.decoded("tls", default: TLSRule()), reach: try row.named("reach", as: WebhookReach.self),
            secret: lost.contains(.secret) ? nil : try self.secret(secret.text ?? "", of: row),
            formerSecrets: try Self.formerSecrets(formerSecrets), state: try state(row),
            createdAt: row.time("created_at"), lost: lost)
    }

    private static func opened(
        _ row: SQLRow, _ column: SecretColumn, _ sealer: Sealer
    ) throws -> (text: String?, isLost: Bool) {
        guard let text: String = row[column.name] else { return (nil, false) }
        let opened = try sealer.open(text, at: column.place(row["session"], row["name"]))
        return (opened.text, opened.isLost)
    }

    private static func secret(_ text: String, of row: SQLRow) throws -> WebhookSecret {
        guard let secret = WebhookSecret(text) else {
            throw StoreError.failed(why: "the secret of webhook \(row["name"] as String) cannot be read")
        }
        return secret
    }

    static func text(_ secrets: [FormerSecret]) throws -> String {
        try Stored.text(secrets.map { StoredSecret(secret: $0.secret.text, until: $0.until.milliseconds) })
    }

    private struct StoredSecret: Codable {
        var secret: String
        /// Milliseconds since 1970.
        var until: Int64
    }

    private static func formerSecrets(_ text: String) throws -> [FormerSecret] {
        try Stored.value([StoredSecret].self, from: text).compactMap { stored in
            WebhookSecret(stored.secret).map { FormerSecret($0, until: Date(milliseconds: stored.until)) }
        }
    }

    static func patterns(_ text: String) -> [EventPattern] {
        text.split(separator: " ").map { EventPattern(trusted: String($0)) }
    }

    static func text(_ patterns: [EventPattern]) -> String { patterns.map(\.text).joined(separator: " ") }

    private static func state(_ row: SQLRow) throws -> Webhook.State {
        switch try row.named("state", as: Webhook.State.Name.self) {
        case .enabled: .enabled(failingSince: row.optionalTime("failing_since"))
        case .disabled: .disabled(reason: row["disabled_reason"])
        }
    }
}
