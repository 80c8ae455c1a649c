import Downloads
import Foundation
import GRDB

/// What the owners of an endpoint ask for. Each names a webhook of a session and throws `noSuchSession` or
/// `noSuchWebhook` where there is none.
extension Store {
    /// Sends `webhook.test` to this webhook alone, whatever events it wants.
    ///
    /// - Throws: `webhookDisabled`.
    public func testWebhook(_ name: Name, of session: Name) async throws -> Delivery {
        let id = try await writer.write { transaction in
            let webhook = try transaction.enabledWebhook(name, of: session)
            let event = try transaction.append(
                .webhookTest, session: session, job: nil, data: ["webhook": .string(name.text)])
            return try transaction.deliver(
                event, .webhookTest, in: session, to: (key: webhook.key, name: webhook.name.text))
        }
        return try delivery(id)
    }

    /// Another secret signs from now on; the one before signs too, for a day.
    ///
    /// - Parameter secret: nil makes one.
    public func rotateSecret(of name: Name, of session: Name, to secret: WebhookSecret?) async throws -> Webhook {
        try await writer.write { transaction in
            let webhook = try transaction.existingWebhook(name, of: session)
                .rotating(to: secret ?? .random(), at: transaction.now)
            try transaction.update(webhook)
            return webhook
        }
    }

    /// Switches an endpoint on again, or says that one that fails is well. What waits goes out at once; what was
    /// withdrawn stays so, until it is recovered.
    public func enableWebhook(_ name: Name, of session: Name) async throws -> Webhook {
        try await writer.write { transaction in
            let webhook = try transaction.existingWebhook(name, of: session)
            try transaction.transitionWebhook(webhook.key, on: .enableRequested)
            try transaction.releaseDeliveries(to: webhook.key)
            return try transaction.existingWebhook(name, of: session)
        }
    }

    /// Sends every event of the session behind `event` that the webhook wants, again where it had been sent, under the
    /// identifier it had then; a step at a time.
    ///
    /// - Parameter limit: events looked at in this step.
    /// - Returns: deliveries that are on their way now, and where the next step goes on; nil at the end.
    /// - Throws: `webhookDisabled`; `eventsPruned` when some behind `event` are no longer there.
    public func recoverWebhook(
        _ name: Name, of session: Name, after event: EventID, limit: Int = 500
    ) async throws -> (count: Int, next: EventID?) {
        try await writer.write { transaction in
            let webhook = try transaction.enabledWebhook(name, of: session)
            try Self.requireUnpruned(EventQuery(after: event, session: session), in: transaction.db)
            let events = try transaction.rows(
                "SELECT id, type FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?",
                [session.text, event, limit])
            var count = 0
            for row in events {
                let type = try row.named("type", as: EventType.self)
                guard webhook.events.contains(where: { $0.matches(type) }), type != .webhookTest else { continue }
                try transaction.redeliver(row["id"], type, to: webhook)
                count += 1
            }
            return (count, events.count == limit ? events.last?["id"] : nil)
        }
    }

    /// Sends one delivery again, whatever became of it.
    ///
    /// - Throws: `noSuchDelivery`; `webhookGone`; `webhookDisabled`.
    public func redeliver(_ id: DeliveryID) async throws -> Delivery {
        try await writer.write { transaction in
            guard let row = try transaction.row("SELECT * FROM deliveries WHERE id = ?", [id.text]) else {
                throw StoreError.noSuchDelivery(id)
            }
            let name = Name(trusted: row["name"])
            guard let webhook = try transaction.webhook(row["webhook"] as Int64) else {
                throw StoreError.webhookGone(name)
            }
            if let reason = webhook.state.reason { throw StoreError.webhookDisabled(name, reason: reason) }
            try transaction.transitionDelivery(row, on: .redeliveryRequested(at: transaction.now))
        }
        return try delivery(id)
    }
}
