import Downloads
import GRDB

extension Transaction {
    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    func existingWebhook(_ name: Name, of session: Name) throws -> Webhook {
        _ = try self.session(session)
        guard let webhook = try webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
        return webhook
    }

    func enabledWebhook(_ name: Name, of session: Name) throws -> Webhook {
        let webhook = try existingWebhook(name, of: session)
        if let reason = webhook.state.reason { throw StoreError.webhookDisabled(name, reason: reason) }
        return webhook
    }

    /// Under the identifier it had, where it ever had one.
    func redeliver(_ event: EventID, _ type: EventType, to webhook: Webhook) throws {
        let existing = try row("SELECT * FROM deliveries WHERE webhook = ? AND event = ?", [webhook.key, event])
        if let existing {
            try transitionDelivery(existing, on: .redeliveryRequested(at: now))
        } else {
            try deliver(event, type, in: webhook.session, to: (key: webhook.key, name: webhook.name.text))
        }
    }
}
