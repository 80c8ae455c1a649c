import Downloads
import GRDB

/// Declares, reads and deletes webhooks.
extension Store {
    /// Creates a webhook of a session, or replaces the description of an existing one. A disabled webhook is
    /// enabled again. If the address, the headers, the TLS settings or the reach change, pending deliveries are sent at
    /// once, as the new declaration says. Events that were committed before the webhook existed are not sent to it.
    ///
    /// - Parameter reach: the addresses that the caller may post to. It replaces the reach of an existing webhook.
    /// - Throws: `noSuchSession`.
    public func declareWebhook(
        _ name: Name, of session: Name, as declaration: WebhookDeclaration, reaching reach: WebhookReach = .any,
        audit note: AuditNote? = nil
    ) async throws -> (webhook: Webhook, isNew: Bool) {
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
        let webhooks: [Webhook]? = try await read { db in
            let found = try Int.fetchOne(
                db.cachedStatement(sql: "SELECT 1 FROM sessions WHERE id = ?"), arguments: [session.text])
            guard found != nil else { return nil }
            return try Row.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM webhooks WHERE session = ? ORDER BY name"),
                arguments: [session.text]
            ).map(WebhookRow.webhook)
        }
        guard let webhooks else { throw .noSuchSession(session) }
        return webhooks
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
