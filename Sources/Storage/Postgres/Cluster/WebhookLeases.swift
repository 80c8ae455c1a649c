import Downloads

/// The lease of a webhook: the node that posts to it while it has pending deliveries. So one node at a time posts to an
/// endpoint, in the order of the events, and the webhooks are distributed over the nodes.
///
/// The lease ends when the last pending delivery is recorded, or with the lease of the node. It stays where deliveries are
/// cancelled, because an attempt of them can be under way. In a database of its own, a service needs no leases.
extension Transaction {
    /// Gives this node the lease if no node has it. Each change that makes a delivery pending calls it.
    func leaseWebhook(_ webhook: Int64) throws {
        guard let node, working.leasedWebhooks[webhook] == nil else { return }
        try run(
            "INSERT INTO webhook_leases (webhook, node) VALUES (?, ?) ON CONFLICT (webhook) DO NOTHING",
            [webhook, node.number])
        working.leasedWebhooks.note(true, for: webhook)
    }

    /// Gives this node the leases that no node has. Nothing is written if others have got them all.
    ///
    /// - Returns: the webhooks that this node has a lease of.
    func leaseWebhooks(_ webhooks: some Collection<Int64>) throws -> Set<Int64> {
        guard let node else { return Set(webhooks) }
        for webhook in webhooks {
            // It may have been deleted.
            let leased = try changedRows(
                """
                INSERT INTO webhook_leases (webhook, node) SELECT key, ?2 FROM webhooks WHERE key = ?1
                ON CONFLICT (webhook) DO NOTHING
                """, [webhook, node.number])
            if leased > 0 { working.leasedWebhooks.note(true, for: webhook) }
        }
        let own = try rows("SELECT webhook FROM webhook_leases WHERE node = ?", [node.number])
        return Set(try own.map { try $0["webhook"] as Int64 })
    }

    /// Ends this node's lease if no delivery is pending, except if an answer has disabled the webhook.
    func endLeaseOfIdleWebhook(_ webhook: Int64) throws {
        guard let node else { return }
        try run(
            """
            DELETE FROM webhook_leases WHERE webhook = ?1 AND node = ?2
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?1 AND state = 'pending')
                AND EXISTS (SELECT 1 FROM webhooks WHERE key = ?1 AND state = 'enabled')
            """, [webhook, node.number])
        working.leasedWebhooks.forget(webhook)
    }

    /// Ends the leases of the nodes that have none themselves. Another node gets them when their deliveries are due.
    func endWebhookLeasesOfEndedNodes() throws {
        let ended = try rows(
            """
            DELETE FROM webhook_leases WHERE node NOT IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
            RETURNING webhook
            """)
        for row in ended { try working.leasedWebhooks.forget(row["webhook"]) }
        if !ended.isEmpty { wake(.deliveries) }
    }
}
