import Downloads
import Formats
import Foundation
import GRDB

/// Declaring webhooks.
extension Store {
    /// Declares a webhook of a session, or replaces what it wants and where it is. An endpoint that was switched off is
    /// switched on again, and what waits goes to another address at once. Events committed before its first declaration
    /// are not sent to it.
    ///
    /// - Parameter secret: nil keeps the one there is, or makes one.
    /// - Throws: `noSuchSession`.
    public func declareWebhook(
        _ name: Name, of session: Name, url: String, events: [EventPattern], secret: WebhookSecret?
    ) async throws -> (webhook: Webhook, isNew: Bool) {
        try await writer.write { transaction in
            _ = try transaction.configuration(of: session)
            let existing = try transaction.webhook(name, of: session)
            try transaction.run(
                """
                INSERT INTO webhooks (session, name, url, events, secret, state, created_at)
                VALUES (?, ?, ?, ?, ?, 'enabled', ?)
                ON CONFLICT (session, name) DO UPDATE SET url = excluded.url, events = excluded.events,
                    secret = excluded.secret, state = 'enabled', disabled_reason = NULL, failing_since = NULL
                """,
                [
                    session.text, name.text, url, WebhookRow.text(events),
                    (secret ?? existing?.secret ?? .random()).text, transaction.now.milliseconds,
                ])
            guard let webhook = try transaction.webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
            if let existing, existing.url != url { try transaction.releaseDeliveries(to: webhook.key) }
            return (webhook, existing == nil)
        }
    }

    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    public func webhook(_ name: Name, of session: Name) throws(StoreError) -> Webhook {
        guard let webhook = try webhooks(of: session).first(where: { $0.name == name }) else {
            throw .noSuchWebhook(name)
        }
        return webhook
    }

    /// All of a session's, by name.
    ///
    /// - Throws: `noSuchSession`.
    public func webhooks(of session: Name) throws(StoreError) -> [Webhook] {
        let webhooks: [Webhook]? = try read { db in
            let known = try Int.fetchOne(
                db.cachedStatement(sql: "SELECT 1 FROM sessions WHERE id = ?"), arguments: [session.text])
            guard known != nil else { return nil }
            return try Row.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM webhooks WHERE session = ? ORDER BY name"),
                arguments: [session.text]
            ).map(WebhookRow.webhook)
        }
        guard let webhooks else { throw .noSuchSession(session) }
        return webhooks
    }

    /// Forgets a webhook; what was still on its way to it is cancelled.
    public func deleteWebhook(_ name: Name, of session: Name) async throws {
        try await writer.write { transaction in
            _ = try transaction.configuration(of: session)
            guard let webhook = try transaction.webhook(name, of: session) else {
                throw StoreError.noSuchWebhook(name)
            }
            try transaction.withdrawDeliveries(to: webhook.key)
            try transaction.run("DELETE FROM webhooks WHERE key = ?", [webhook.key])
        }
    }
}
