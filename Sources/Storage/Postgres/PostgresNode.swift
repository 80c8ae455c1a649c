import Downloads
import PostgresClient

/// The row of this service in the table of nodes.
enum PostgresNode {
    struct Registration {
        var node: Node
        /// Of the last commit before.
        var position: Int64
        var lastEvent: Int64
        /// See `Store.firstNode`.
        var firstNode: Int64?
        /// In milliseconds since 1970 (UTC).
        var serverTime: Int64
    }

    enum Outcome {
        case registered(Registration)
        /// The row has the lease of this process, which may live.
        case undecided(FormerProcess)
        /// The row has the lease of this process, which lives.
        case refused(FormerProcess)
    }

    /// Makes the service a node with a new epoch, and gives it a lease. A former process of the same node is replaced, if it is known to
    /// have ended.
    ///
    /// The node does not lead and posts to no webhook yet: its workers run only after its start, which can take long. See
    /// `Store.takeOverNodes`.
    ///
    /// - Parameter verdict: on the process that has the row and its lease, if that is elsewhere.
    static func register(
        _ applicant: PostgresMembership.Applicant, channel: String, on connection: PostgresConnection,
        verdict: (FormerProcess) -> FormerProcess.Verdict
    ) throws -> Outcome {
        try connection.transaction { transaction in
            let journal = try transaction.execute(
                PostgresStatement("SELECT commits, last, first_node FROM journal WHERE id = 1 FOR UPDATE"))
            if let former = try former(applicant, &transaction) {
                switch verdict(former) {
                case .undecided: return .undecided(former)
                case .lives: return .refused(former)
                case .hasEnded: break
                }
            }
            let row = try transaction.execute(PostgresStatement(insert, values(applicant)))
            let node = Node(number: try row[0].value(0), epoch: try row[0].value(1))
            try transaction.commit(with: [
                PostgresStatement("DELETE FROM additional_connections WHERE node = $1", [.int8(node.number)]),
                PostgresStatement("DELETE FROM webhook_leases WHERE node = $1", [.int8(node.number)]),
                PostgresStatement(endLead, [.int8(node.number)]),
                announcement(CommitNotice(work: [.deliveries]), of: node, on: channel),
            ])
            return .registered(
                Registration(
                    node: node, position: try journal[0].value(0), lastEvent: try journal[0].value(1),
                    firstNode: try journal[0].optional(2), serverTime: try row[0].value(2)))
        }
    }

    /// The process that has the row and its lease; nil if there is none, or if it has ended because this process has its lock.
    private static func former(
        _ applicant: PostgresMembership.Applicant, _ transaction: inout PostgresTransaction
    ) throws -> FormerProcess? {
        guard let row = try transaction.execute(PostgresStatement(selectFormer, [.text(applicant.id)])).first else {
            return nil
        }
        let place = NodePlace(lock: try row.optional(2), machine: try row.optional(3), folder: try row.optional(4))
        guard !place.isSame(as: applicant.place) else { return nil }
        return FormerProcess(
            epoch: try row.value(0), expiresAt: try row.value(1), place: place, url: try row.optional(5))
    }

    private static let selectFormer =
        "SELECT epoch, expires_at, place, machine, folder, url FROM nodes WHERE id = $1 AND expires_at > \(now)"

    private static func values(_ applicant: PostgresMembership.Applicant) -> [PostgresValue] {
        let (description, place) = (applicant.description, applicant.place)
        return [
            .text(applicant.id), .inferred(description.url), .text(description.version),
            .text(description.sharesDownloads ? "shared" : "local"), .int8(Int64(description.slots)),
            .text(place.lock), .text(place.machine), .text(place.folder),
        ]
    }

    private static let insert = """
        INSERT INTO nodes (id, epoch, url, version, downloads, slots, started_at, expires_at, place, machine, folder)
        VALUES ($1, 1, $2, $3, $4, $5, \(now), \(leaseEnd), $6, $7, $8)
        ON CONFLICT (id) DO UPDATE SET epoch = nodes.epoch + 1, url = excluded.url, version = excluded.version,
            downloads = excluded.downloads, slots = excluded.slots, is_draining = 0, started_at = excluded.started_at,
            expires_at = excluded.expires_at, place = excluded.place, machine = excluded.machine,
            folder = excluded.folder
        RETURNING number, epoch, \(now)
        """

    /// No node leads if the leader is a former process of this node, or has no lease.
    private static let endLead = """
        UPDATE journal SET leader = NULL WHERE leader = $1
            OR leader NOT IN (SELECT number FROM nodes WHERE expires_at > \(now))
        """

    /// Ends the lease, so that other nodes take over at once.
    static func leave(_ node: Node, channel: String, on connection: PostgresConnection) throws {
        try connection.transaction { transaction in
            try transaction.execute(PostgresStatement("SELECT 1 FROM journal WHERE id = 1 FOR UPDATE"))
            try transaction.commit(with: [
                PostgresStatement(
                    "UPDATE nodes SET expires_at = NULL WHERE number = $1 AND epoch = $2",
                    [.int8(node.number), .int8(node.epoch)]),
                PostgresStatement(
                    """
                    UPDATE journal SET leader = NULL
                    WHERE leader = $1 AND EXISTS (SELECT 1 FROM nodes WHERE number = $1 AND epoch = $2)
                    """, [.int8(node.number), .int8(node.epoch)]),
                PostgresStatement(
                    """
                    DELETE FROM additional_connections
                    WHERE node = $1 AND EXISTS (SELECT 1 FROM nodes WHERE number = $1 AND epoch = $2)
                    """, [.int8(node.number), .int8(node.epoch)]),
                announcement(CommitNotice(work: [.nodes, .jobs]), of: node, on: channel),
            ])
        }
    }

    private static func announcement(_ notice: CommitNotice, of node: Node, on channel: String) -> PostgresStatement {
        let text = notice.text(from: CommitNotice.Origin(position: 0, node: node.number))
        return PostgresStatement("SELECT pg_notify($1, $2)", [.text(channel), .text(text)])
    }

    /// The server's clock in milliseconds since 1970 (UTC).
    static let now = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)"
    static let leaseEnd = "\(now) + \(Int(NodeLease.duration / .milliseconds(1)))"

    /// The condition that a lease has ended, by the server's clock and by the estimate of the node that looks. They
    /// differ after a jump of the server's clock that this node has not noticed yet, and then only a lease that has
    /// ended by both has ended.
    ///
    /// - Parameters:
    ///   - lease: the column `expires_at`. The condition is NULL if it is NULL.
    ///   - own: the parameter with `NodeLease.takeoverTime`. NULL is left out.
    static func hasEnded(_ lease: String, own: String) -> String {
        let clocks = "\(now), CAST(\(own) AS bigint)"
        let rest = Int(NodeLease.longestRest / .milliseconds(1))
        return "(\(lease) < least(\(clocks)) OR \(lease) > greatest(\(clocks)) + \(rest))"
    }

    /// The channel of the notices. Tables in another schema have another channel.
    static func channel(on connection: PostgresConnection) throws -> String {
        let rows = try connection.execute(
            PostgresStatement("SELECT 'fetchd_' || current_schema()", isPrepared: false))
        return try rows[0].value(0)
    }
}
