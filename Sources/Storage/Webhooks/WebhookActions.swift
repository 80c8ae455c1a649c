import Downloads

/// Actions on webhooks and deliveries. Those that name a webhook throw `noSuchSession` or `noSuchWebhook`.
extension Store {
    /// Sends `webhook.test` to this webhook only, also if its event patterns don't match.
    ///
    /// - Throws: `webhookDisabled`.
    public func testWebhook(_ name: Name, of session: Name) async throws -> Delivery {
        let id = try await writer.write { transaction in
            let webhook = try transaction.enabledWebhook(name, of: session)
            let test = NewEvent(.webhookTest, in: session, data: ["webhook": .string(name.text)])
            return try transaction.deliver(
                transaction.append([test])[0], .webhookTest, in: session,
                to: (key: webhook.key, name: webhook.name.text))
        }
        return try await delivery(id)
    }

    /// Replaces the secret. For one day, the previous secret is used to sign as well.
    ///
    /// - Parameter secret: the new secret; nil: the store makes one.
    public func rotateSecret(
        of name: Name, of session: Name, to secret: WebhookSecret?, audit note: AuditNote? = nil
    ) async throws -> Webhook {
        try await writer.write { transaction in
            try transaction.audit(note)
            let webhook = try transaction.existingWebhook(name, of: session)
            let rotated = webhook.rotating(to: secret ?? .random(), at: transaction.now)
            try transaction.update(rotated)
            return rotated
        }
    }

    /// Enables a webhook, and ends its count of failures. Its pending deliveries are sent at once. Cancelled deliveries stay
    /// cancelled until `recoverWebhook`.
    ///
    /// - Throws: `webhookSecretsLost`.
    public func enableWebhook(_ name: Name, of session: Name) async throws -> Webhook {
        try await writer.write { transaction in
            let webhook = try transaction.existingWebhook(name, of: session)
            guard webhook.lost.isEmpty else { throw StoreError.webhookSecretsLost(name, webhook.lost) }
            try transaction.transitionWebhook(webhook.key, on: .enableRequested)
            try transaction.releaseDeliveries(to: webhook.key)
            return try transaction.existingWebhook(name, of: session)
        }
    }

    /// Sends the events of the session after `event` that match the webhook's patterns, one step at a time. An event that
    /// was sent before is sent again with the same delivery identifier.
    ///
    /// - Returns: the number of deliveries that are pending now; and `after` of the next step, nil at the end.
    /// - Throws: `webhookDisabled`; `eventsPruned` when events after `event` were pruned.
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
            return try (count, events.count == limit ? events.last?["id"] : nil)
        }
    }

    /// Sends a delivery again, in any state.
    ///
    /// - Throws: `noSuchDelivery`; `webhookGone`; `webhookDisabled`.
    public func redeliver(_ id: DeliveryID) async throws -> Delivery {
        try await writer.write { transaction in
            guard let row = try transaction.row("SELECT * FROM deliveries WHERE id = ?", [id.text]) else {
                throw StoreError.noSuchDelivery(id)
            }
            let name = try Name(trusted: row["name"])
            guard let webhook = try transaction.webhook(row["webhook"] as Int64) else {
                throw StoreError.webhookGone(name)
            }
            if let reason = webhook.state.reason { throw StoreError.webhookDisabled(name, reason: reason) }
            try transaction.transitionDelivery(row, on: .redeliveryRequested(at: transaction.now))
        }
        return try await delivery(id)
    }
}

extension Transaction {
    fileprivate func enabledWebhook(_ name: Name, of session: Name) throws -> Webhook {
        let webhook = try existingWebhook(name, of: session)
        if let reason = webhook.state.reason { throw StoreError.webhookDisabled(name, reason: reason) }
        return webhook
    }

    fileprivate func redeliver(_ event: EventID, _ type: EventType, to webhook: Webhook) throws {
        if let existing = try row("SELECT * FROM deliveries WHERE webhook = ? AND event = ?", [webhook.key, event]) {
            try transitionDelivery(existing, on: .redeliveryRequested(at: now))
        } else {
            try deliver(event, type, in: webhook.session, to: (key: webhook.key, name: webhook.name.text))
        }
    }
}
