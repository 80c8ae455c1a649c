import Downloads

/// Actions on webhooks and deliveries. Those that name a webhook throw `noSuchSession` or `noSuchWebhook`.
extension Store {
    /// Sends `webhook.test` to this webhook only, also if its event patterns don't match.
    ///
    /// - Throws: `webhookDisabled`.
    public func testWebhook(_ name: Name, of session: Name) async throws -> Delivery {
        let id = try await writer.write { try $0.testWebhook(name, of: session) }
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
            return try transaction.rotateSecret(of: name, of: session, to: secret)
        }
    }

    /// Enables a webhook, and ends its count of failures. Its pending deliveries are sent at once. Cancelled deliveries stay
    /// cancelled until `recoverWebhook`.
    ///
    /// - Throws: `webhookSecretsLost`.
    public func enableWebhook(_ name: Name, of session: Name) async throws -> Webhook {
        try await writer.write { try $0.enableWebhook(name, of: session) }
    }

    /// Sends the events of the session after `event` that match the webhook's patterns, one step at a time. An event that
    /// was sent before is sent again with the same delivery identifier.
    ///
    /// - Parameter limit: the number of events that this step reads.
    /// - Returns: the number of deliveries that are pending now; and `after` of the next step, nil at the end.
    /// - Throws: `webhookDisabled`; `eventsPruned` when events after `event` were pruned.
    public func recoverWebhook(
        _ name: Name, of session: Name, after event: EventID, limit: Int = 500
    ) async throws -> (count: Int, next: EventID?) {
        try await writer.write { try $0.recoverWebhook(name, of: session, after: event, limit: limit) }
    }

    /// Sends a delivery again, in any state.
    ///
    /// - Throws: `noSuchDelivery`; `webhookGone`; `webhookDisabled`.
    public func redeliver(_ id: DeliveryID) async throws -> Delivery {
        try await writer.write { try $0.redeliver(id) }
        return try await delivery(id)
    }
}
