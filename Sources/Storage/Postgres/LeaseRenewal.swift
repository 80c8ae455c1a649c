import Downloads
import PostgresClient

/// When the lease is renewed.
struct LeaseRenewal {
    private let node: Node
    private var last: Duration?
    private var lookedAt: Duration = .zero
    private var hasShownDraining = false

    init(_ node: Node) { self.node = node }

    func isDue(at now: Duration, isDraining: Bool = false) -> Bool {
        isDraining && !hasShownDraining || last.map { now - $0 >= NodeLease.renewal } ?? true
    }

    mutating func looksAgain(at now: Duration) -> Bool {
        guard now - lookedAt >= .seconds(1) else { return false }
        lookedAt = now
        return true
    }

    /// - Throws: `StoreError.nodeReplaced`.
    mutating func renew(_ lease: NodeLease, on connection: PostgresConnection) throws {
        let (sentAt, isDraining) = (lease.uptime, lease.isDraining)
        let rows = try connection.execute(
            PostgresStatement(Self.statement, [.int8(node.number), .int8(node.epoch), .int8(isDraining ? 1 : 0)]))
        guard let row = rows.first else { throw StoreError.nodeReplaced }
        hasShownDraining = isDraining
        last = sentAt
        lease.renew(.init(serverTime: try row.value(0), sentAt: sentAt, answeredAt: lease.uptime))
    }

    private static let statement = """
        UPDATE nodes SET expires_at = \(PostgresNode.leaseEnd), is_draining = $3 WHERE number = $1 AND epoch = $2 RETURNING \(PostgresNode.now)
        """
}
