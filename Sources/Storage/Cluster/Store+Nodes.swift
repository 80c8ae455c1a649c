import Downloads

extension Store {
    /// The services that share the database or have shared it, by their numbers; empty in a database of its own.
    public func nodes() async throws(StoreError) -> [NodeStatus] {
        guard node != nil else { return [] }
        return try await read { db in try db.map(Self.selectNodes) { NodeStatus($0) } }
    }

    /// Where other nodes reach a node; nil: it has no URL.
    ///
    /// - Throws: `noSuchNode`.
    public func url(ofNode number: Int64) async throws(StoreError) -> String? {
        guard node != nil else { throw .noSuchNode(number) }
        return try await read { db in
            guard let row = try db.row("SELECT url FROM nodes WHERE number = ?", [number]) else {
                throw StoreError.noSuchNode(number)
            }
            return row["url"] as String?
        }
    }

    /// Removes a node that never returns, and what it should have removed from its folder. If it returns, it is a new node.
    ///
    /// - Throws: `noSuchNode`; `nodeInUse` while it has a lease or jobs.
    public func forgetNode(_ number: Int64, audit note: AuditNote? = nil) async throws {
        guard node != nil else { throw StoreError.noSuchNode(number) }
        try await writer.write { transaction in
            try transaction.forgetNode(number)
            try transaction.audit(note)
        }
    }

    private static let selectNodes = """
        SELECT nodes.*, nodes.expires_at - \(PostgresNode.now) AS lease_left,
            CASE WHEN nodes.number = (SELECT leader FROM journal) THEN 1 ELSE 0 END AS is_leader,
            (SELECT count(*) FROM jobs WHERE state = 'running' AND jobs.node = nodes.number) AS running
        FROM nodes ORDER BY nodes.number
        """
}
