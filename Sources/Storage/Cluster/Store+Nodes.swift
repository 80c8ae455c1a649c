import Downloads

extension Store {
    /// The services that share the database or have shared it, by their numbers; empty in a database of its own.
    public func nodes() async throws(StoreError) -> [NodeStatus] {
        guard node != nil else { return [] }
        return try await read { db in try db.map(Self.selectNodes) { NodeStatus($0) } }
    }

    private static let selectNodes = """
        SELECT nodes.*, nodes.expires_at - \(PostgresNode.now) AS lease_left,
            CASE WHEN nodes.number = (SELECT leader FROM journal) THEN 1 ELSE 0 END AS is_leader,
            (SELECT count(*) FROM jobs WHERE state = 'running' AND jobs.node = nodes.number) AS running
        FROM nodes ORDER BY nodes.number
        """
}
