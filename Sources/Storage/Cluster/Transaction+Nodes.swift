import Downloads

extension Transaction {
    /// Only for PostgreSQL.
    ///
    /// - Throws: `noSuchNode`, `nodeInUse`.
    func forgetNode(_ number: Int64) throws {
        guard let use = try row(Self.nodeUse, [number]) else { throw StoreError.noSuchNode(number) }
        if use["has_lease"] as Bool { throw StoreError.nodeInUse(number, why: "it has a lease. Stop it first") }
        if use["has_jobs"] as Bool {
            throw StoreError.nodeInUse(number, why: "other nodes have not taken over its jobs yet")
        }
        let tables = [
            "removals", "attempt_requests", "additional_connections", "webhook_leases", "progress", "last_commits",
        ]
        for table in tables {
            try run("DELETE FROM \(table) WHERE node = ?", [number])
        }
        try run("UPDATE journal SET first_node = NULL WHERE first_node = ?", [number])
        try run("DELETE FROM nodes WHERE number = ?", [number])
        // Another node can take its leases of webhooks.
        wake(.deliveries)
    }

    private static let nodeUse = """
        SELECT expires_at IS NOT NULL AS has_lease,
            EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND jobs.node = nodes.number) AS has_jobs
        FROM nodes WHERE number = ?
        """
}
