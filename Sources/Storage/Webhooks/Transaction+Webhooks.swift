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

    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    func existingWebhook(_ name: Name, of session: Name) throws -> Webhook {
        _ = try self.session(session)
        guard let webhook = try webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
        return webhook
    }

    func declareWebhook(
        _ name: Name, of session: Name, as declaration: WebhookDeclaration, reaching reach: WebhookReach
    ) throws -> (webhook: Webhook, isNew: Bool) {
        _ = try self.session(session)
        let existing = try webhook(name, of: session)
        try run(
            """
            INSERT INTO webhooks (session, name, url, events, headers, tls, reach, secret, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'enabled', ?)
            ON CONFLICT (session, name) DO UPDATE SET url = excluded.url, events = excluded.events,
                headers = excluded.headers, tls = excluded.tls, reach = excluded.reach, secret = excluded.secret,
                state = 'enabled', disabled_reason = NULL, failing_since = NULL
            """,
            [
                session.text, name.text, declaration.url, WebhookRow.text(declaration.events),
                try Stored.text(declaration.headers), try Stored.text(declaration.tls), reach.rawValue,
                (declaration.secret ?? existing?.secret ?? .random()).text, now.milliseconds,
            ])
        working.subscriptions.forget(session)
        guard let webhook = try webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
        if let existing, existing.reach != reach || !declaration.reaches(asDoes: existing) {
            try releaseDeliveries(to: webhook.key)
        }
        return (webhook, existing == nil)
    }

    func deleteWebhook(_ name: Name, of session: Name) throws {
        let webhook = try existingWebhook(name, of: session)
        try cancelDeliveries(to: webhook.key)
        try run("DELETE FROM webhooks WHERE key = ?", [webhook.key])
        working.subscriptions.forget(session)
    }

    /// Writes the fields that signals and secret rotations change.
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
        working.subscriptions.forget(webhook.session)
    }

    /// Applies a signal to the state machine of the webhook. If that disables the webhook, its pending deliveries are
    /// cancelled and `webhook.disabled` is appended.
    ///
    /// - Returns: whether the state has changed.
    @discardableResult
    func transitionWebhook(_ key: Int64, on signal: WebhookSignal) throws -> Bool {
        guard var webhook = try webhook(key), let next = webhook.state.after(signal) else { return false }
        webhook.state = next
        try update(webhook)
        if let reason = next.reason { try disable(webhook, reason) }
        return true
    }

    private func disable(_ webhook: Webhook, _ reason: String) throws {
        try cancelDeliveries(to: webhook.key)
        try append(
            .webhookDisabled, session: webhook.session, job: nil,
            data: ["webhook": .string(webhook.name.text), "reason": .string(reason)])
    }

    private func cancelDeliveries(to webhook: Int64) throws {
        try run(
            "UPDATE deliveries SET state = 'cancelled', next_attempt_at = NULL WHERE webhook = ? AND state = 'pending'",
            [webhook])
        countDeliveries(changedRows, from: .pending, to: .cancelled)
        wake(.sessions)
    }
}
