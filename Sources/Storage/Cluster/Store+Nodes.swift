import Downloads

extension Store {
    /// The services that share the database or have shared it, by their numbers; empty in a database of its own.
    public func nodes() async throws(StoreError) -> [NodeStatus] {
        guard node != nil else { return [] }
        return try await read { db in try db.map(Self.selectNodes) { NodeStatus($0) } }
    }

    /// Where other nodes reach a node; nil: the node is not known, or it has no URL.
    public func url(ofNode number: Int64) async throws(StoreError) -> String? {
        guard node != nil else { return nil }
        return try await read { db in
            let row = try db.row("SELECT url FROM nodes WHERE number = ?", [number])
            return row.flatMap { $0["url"] as String? }
        }
    }

    private static let selectNodes = """
        SELECT nodes.*, nodes.expires_at - \(PostgresNode.now) AS lease_left,
            CASE WHEN nodes.number = (SELECT leader FROM journal) THEN 1 ELSE 0 END AS is_leader,
            (SELECT count(*) FROM jobs WHERE state = 'running' AND jobs.node = nodes.number) AS running
        FROM nodes ORDER BY nodes.number
        """
}
