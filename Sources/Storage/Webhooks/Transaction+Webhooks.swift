import Downloads
import Formats
import Foundation

extension Transaction {
    func webhook(_ name: Name, of session: Name) throws -> Webhook? {
        try row("SELECT * FROM webhooks WHERE session = ? AND name = ?", [session.text, name.text])
            .map { try WebhookRow.webhook($0, sealer) }
    }

    func webhook(_ key: Int64) throws -> Webhook? {
        try row("SELECT * FROM webhooks WHERE key = ?", [key]).map { try WebhookRow.webhook($0, sealer) }
    }

    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    func existingWebhook(_ name: Name, of session: Name) throws -> Webhook {
        _ = try self.session(session)
        guard let webhook = try webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
        return webhook
    }

    func declareWebhook(
        _ name: Name, of session: Name, as declaration: WebhookDeclaration, reaching reach: WebhookReach
    ) throws -> (webhook: Webhook, isNew: Bool, hasNewSecret: Bool) {
        _ = try self.session(session)
        let existing = try webhook(name, of: session)
        let declaration = try declaration.keepingURL(of: existing)
        try run(
            """
            INSERT INTO webhooks (session, name, url, events, headers, tls, reach, secret, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'enabled', ?)
            ON CONFLICT (session, name) DO UPDATE SET url = excluded.url, events = excluded.events,
                headers = excluded.headers, tls = excluded.tls, reach = excluded.reach, secret = excluded.secret,
                state = 'enabled', disabled_reason = NULL, failing_since = NULL
            """,
            [
                session.text, name.text, sealer.url(declaration.url, ofWebhook: name, session),
                WebhookRow.text(declaration.events), try sealer.text(declaration.headers, ofWebhook: name, session),
                try Stored.text(declaration.tls), reach.rawValue,
                sealer.text(declaration.secret ?? existing?.secret ?? .random(), ofWebhook: name, session),
                now.milliseconds,
            ])
        working.subscriptions.forget(session)
        try noteConsumer(of: session)
        guard let webhook = try webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
        if let existing, !webhook.reaches(asDoes: existing) { try releaseDeliveries(to: webhook.key) }
        return (webhook, existing == nil, existing?.secret == nil)
    }

    func deleteWebhook(_ name: Name, of session: Name) throws {
        let webhook = try existingWebhook(name, of: session)
        try cancelDeliveries(to: webhook.key)
        try run("DELETE FROM webhooks WHERE key = ?", [webhook.key])
        working.subscriptions.forget(session)
    }

    /// Disables the webhooks that were sealed with a lost key. Without their URL, headers and secret, a request could only
    /// fail.
    ///
    /// - Returns: the number of webhooks that were enabled.
    func disableWebhooksWithoutSecrets() throws -> Int {
        let webhooks = try rows("SELECT * FROM webhooks WHERE state = 'enabled'").map {
            try WebhookRow.webhook($0, sealer)
        }
        return try webhooks.count { try !$0.lost.isEmpty && transitionWebhook($0.key, on: .secretsLost) }
    }

    /// Writes the fields that signals and secret rotations change.
    func update(_ webhook: Webhook) throws {
        try run(
            """
            UPDATE webhooks SET secret = ?, former_secrets = ?, state = ?, disabled_reason = ?, failing_since = ?
            WHERE key = ?
            """,
            [
                sealer.text(webhook.secret, ofWebhook: webhook.name, webhook.session),
                try sealer.text(webhook.formerSecrets, ofWebhook: webhook.name, webhook.session),
                webhook.state.name.rawValue, webhook.state.reason, webhook.state.failingSince?.milliseconds,
                webhook.key,
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
        let cancelled = try changedRows(
            "UPDATE deliveries SET state = 'cancelled', next_attempt_at = NULL WHERE webhook = ? AND state = 'pending'",
            [webhook])
        countDeliveries(cancelled, from: .pending, to: .cancelled)
        wake(.sessions)
    }
}
