import Downloads
import Formats
import Foundation
import GRDB

extension Transaction {
    func webhook(_ name: Name, of session: Name) throws -> Webhook? {
        try row("SELECT * FROM webhooks WHERE session = ? AND name = ?", [session.text, name.text])
            .map(WebhookRow.webhook)
    }

    func webhook(_ key: Int64) throws -> Webhook? {
        try row("SELECT * FROM webhooks WHERE key = ?", [key]).map(WebhookRow.webhook)
    }

    /// Everything about a webhook that signals and rotations change.
    func update(_ webhook: Webhook) throws {
        try run(
            """
            UPDATE webhooks SET secret = ?, former_secrets = ?, state = ?, disabled_reason = ?, failing_since = ?
            WHERE key = ?
            """,
            [
                webhook.secret.text, try WebhookRow.text(webhook.formerSecrets), webhook.state.name.rawValue,
                webhook.state.reason, webhook.state.failingSince?.milliseconds, webhook.key,
            ])
    }

    /// Lets the webhook's machine decide; a webhook that is switched off gets nothing more, and the journal says so.
    ///
    /// - Returns: whether anything has changed.
    @discardableResult
    func transitionWebhook(_ key: Int64, on signal: WebhookSignal) throws -> Bool {
        guard var webhook = try webhook(key), let next = webhook.state.after(signal) else { return false }
        webhook.state = next
        try update(webhook)
        if let reason = next.reason { try disable(webhook, reason) }
        return true
    }

    private func disable(_ webhook: Webhook, _ reason: String) throws {
        try withdrawDeliveries(to: webhook.key)
        try append(
            .webhookDisabled, session: webhook.session, job: nil,
            data: ["webhook": .string(webhook.name.text), "reason": .string(reason)])
    }

    func withdrawDeliveries(to webhook: Int64) throws {
        try run(
            "UPDATE deliveries SET state = 'cancelled', next_attempt_at = NULL WHERE webhook = ? AND state = 'pending'",
            [webhook])
        wake(.sessions)
    }
}
