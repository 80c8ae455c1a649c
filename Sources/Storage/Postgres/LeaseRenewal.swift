import Downloads
import PostgresClient

/// When the lease is renewed, and when the node looks for what no notification has told it.
struct LeaseRenewal {
    /// A node stores the progress of its jobs and reads that of the others each time. So progress is less than two
    /// seconds old: it waits for this long to be stored, and for this long to be read.
    private static let interval: Duration = .milliseconds(900)

    private let node: Node
    private var last: Duration?
    private var lookedAt: Duration = .zero
    private var hasShownDraining = false

    init(_ node: Node) { self.node = node }

    func isDue(at now: Duration, isDraining: Bool = false) -> Bool {
        isDraining && !hasShownDraining || last.map { now - $0 >= NodeLease.renewal } ?? true
    }

    func untilNextLook(at now: Duration) -> Duration { max(.zero, lookedAt + Self.interval - now) }

    mutating func looksAgain(at now: Duration) -> Bool {
        guard untilNextLook(at: now) == .zero else { return false }
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
