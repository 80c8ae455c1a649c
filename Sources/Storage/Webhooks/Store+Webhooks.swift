import Downloads

/// Declares, reads and deletes webhooks.
extension Store {
    /// Creates a webhook of a session, or replaces the description of an existing one. A disabled webhook is
    /// enabled again. If the address, the headers, the TLS settings or the reach change, pending deliveries are sent at
    /// once, as the new declaration says. Events that were committed before the webhook existed are not sent to it.
    ///
    /// A URL in its redacted form keeps the stored URL.
    ///
    /// - Parameter reach: the addresses that the caller may post to. It replaces the reach of an existing webhook.
    /// - Returns: `hasNewSecret`: the webhook had no secret before, because it is new or the secret was lost.
    /// - Throws: `noSuchSession`; `webhookSecretsLost` if the URL is in its redacted form and the stored URL is lost.
    public func declareWebhook(
        _ name: Name, of session: Name, as declaration: WebhookDeclaration, reaching reach: WebhookReach = .any,
        audit note: AuditNote? = nil
    ) async throws -> (webhook: Webhook, isNew: Bool, hasNewSecret: Bool) {
        try await writer.write { transaction in
            try transaction.audit(note)
            return try transaction.declareWebhook(name, of: session, as: declaration, reaching: reach)
        }
    }

    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    public func webhook(_ name: Name, of session: Name) async throws(StoreError) -> Webhook {
        guard let webhook = try await webhooks(of: session).first(where: { $0.name == name }) else {
            throw .noSuchWebhook(name)
        }
        return webhook
    }

    /// All webhooks of a session, ordered by name.
    ///
    /// - Throws: `noSuchSession`.
    public func webhooks(of session: Name) async throws(StoreError) -> [Webhook] {
        let webhooks: [Webhook]? = try await read { [sealer] db in
            let found = try db.value("SELECT 1 FROM sessions WHERE id = ?", [session.text], as: Int.self)
            guard found != nil else { return nil }
            return try db.rows("SELECT * FROM webhooks WHERE session = ? ORDER BY name", [session.text]).map {
                try WebhookRow.webhook($0, sealer)
            }
        }
        guard let webhooks else { throw .noSuchSession(session) }
        return webhooks
    }

    /// Disables the webhooks whose secrets were sealed with a lost key. Call it before deliveries are sent.
    ///
    /// - Returns: the number of webhooks that were enabled.
    public func disableWebhooksWithoutSecrets() async throws -> Int {
        try await writer.write { try $0.disableWebhooksWithoutSecrets() }
    }

    /// Deletes a webhook and cancels its pending deliveries.
    ///
    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    public func deleteWebhook(_ name: Name, of session: Name, audit note: AuditNote? = nil) async throws {
        try await writer.write { transaction in
            try transaction.deleteWebhook(name, of: session)
            try transaction.audit(note)
        }
    }
}
