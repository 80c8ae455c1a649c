import Downloads

extension Transaction {
    func testWebhook(_ name: Name, of session: Name) throws -> DeliveryID {
        let webhook = try enabledWebhook(name, of: session)
        let event = try append(.webhookTest, session: session, job: nil, data: ["webhook": .string(name.text)])
        return try deliver(event, .webhookTest, in: session, to: (key: webhook.key, name: webhook.name.text))
    }

    func rotateSecret(of name: Name, of session: Name, to secret: WebhookSecret?) throws -> Webhook {
        let webhook = try existingWebhook(name, of: session).rotating(to: secret ?? .random(), at: now)
        try update(webhook)
        return webhook
    }

    func enableWebhook(_ name: Name, of session: Name) throws -> Webhook {
        let webhook = try existingWebhook(name, of: session)
        guard webhook.lost.isEmpty else { throw StoreError.webhookSecretsLost(name, webhook.lost) }
        try transitionWebhook(webhook.key, on: .enableRequested)
        try releaseDeliveries(to: webhook.key)
        return try existingWebhook(name, of: session)
    }

    func recoverWebhook(
        _ name: Name, of session: Name, after event: EventID, limit: Int
    ) throws -> (count: Int, next: EventID?) {
        let webhook = try enabledWebhook(name, of: session)
        try Store.requireUnpruned(EventQuery(after: event, session: session), in: db)
        let events = try rows(
            "SELECT id, type FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?",
            [session.text, event, limit])
        var count = 0
        for row in events {
            let type = try row.named("type", as: EventType.self)
            guard webhook.events.contains(where: { $0.matches(type) }), type != .webhookTest else { continue }
            try redeliver(row["id"], type, to: webhook)
            count += 1
        }
        return (count, events.count == limit ? events.last?["id"] : nil)
    }

    func redeliver(_ id: DeliveryID) throws {
        guard let row = try row("SELECT * FROM deliveries WHERE id = ?", [id.text]) else {
            throw StoreError.noSuchDelivery(id)
        }
        let name = Name(trusted: row["name"])
        guard let webhook = try webhook(row["webhook"] as Int64) else { throw StoreError.webhookGone(name) }
        if let reason = webhook.state.reason { throw StoreError.webhookDisabled(name, reason: reason) }
        try transitionDelivery(row, on: .redeliveryRequested(at: now))
    }

    private func enabledWebhook(_ name: Name, of session: Name) throws -> Webhook {
        let webhook = try existingWebhook(name, of: session)
        if let reason = webhook.state.reason { throw StoreError.webhookDisabled(name, reason: reason) }
        return webhook
    }

    /// Uses the delivery that exists for the event and webhook, or makes one.
    private func redeliver(_ event: EventID, _ type: EventType, to webhook: Webhook) throws {
        let existing = try row("SELECT * FROM deliveries WHERE webhook = ? AND event = ?", [webhook.key, event])
        if let existing {
            try transitionDelivery(existing, on: .redeliveryRequested(at: now))
        } else {
            try deliver(event, type, in: webhook.session, to: (key: webhook.key, name: webhook.name.text))
        }
    }
}
