import Base
import Downloads
import Foundation
import Logging
import PostgresClient
import Storage

/// The possession of a node's row: the lease, and the thread that keeps it.
final class PostgresMembership: Cluster {
    /// A process that wants to be a node.
    struct Applicant {
        /// See `NodeFile`.
        var id: String
        var place: NodePlace
        var description: NodeDescription
        var log: Logger
    }

    let node: Node
    let lease: NodeLease
    /// The journal when the service became a node.
    let start: PostgresNode.Registration
    let gaps: JournalGaps
    /// The position of the last commit of this store.
    let position: Locked<Int64>
    private let first: Locked<Int64?>
    private let target: PostgresTarget
    private let reach: ServerReach
    private let channel: String
    private let log: Logger
    private let follower = Locked<PostgresFollower?>(nil)
    private let nodes = Locked<NodeFollower?>(nil)

    /// Waits for the end of the lease of a former process, if that is not known to have ended: for 10 seconds at most.
    ///
    /// - Throws: `StoreError.folderUnusable` if that process lives.
    init(
        _ applicant: Applicant, _ target: PostgresTarget, _ reach: ServerReach, _ channel: String,
        _ connection: PostgresConnection
    ) throws {
        self.target = target
        self.reach = reach
        self.channel = channel
        log = applicant.log
        gaps = try JournalGaps(on: connection)
        let (registration, sentAt) = try Self.register(applicant, channel, connection)
        start = registration
        node = start.node
        position = Locked(start.position.commits)
        first = Locked(start.firstNode)
        lease = NodeLease(
            .init(serverTime: start.serverTime, sentAt: sentAt, answeredAt: SystemTime().uptime))
    }

    private static func register(
        _ applicant: Applicant, _ channel: String, _ connection: PostgresConnection
    ) throws -> (PostgresNode.Registration, sentAt: Duration) {
        var watched: (process: FormerProcess, since: Duration)?
        while true {
            let sentAt = SystemTime().uptime
            let outcome = try PostgresNode.register(applicant, channel: channel, on: connection) { present in
                watched.map { $0.process.verdict(on: present, watched: sentAt - $0.since) } ?? .undecided
            }
            switch outcome {
            case .registered(let registration): return (registration, sentAt)
            case .refused(let process): throw process.refusal(at: applicant.place)
            case .undecided(let process):
                if watched == nil {
                    watched = (process, sentAt)
                    applicant.log.notice(
                        "A process of this node has run \(process.place.text), and its lease has not ended. fetchd waits for the end of the lease, or for its renewal."
                    )
                }
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
    }

    /// The thread keeps the follower alive. Without this, a store that is released but not closed would renew its lease
    /// until the process ends.
    deinit { follower.withLock(\.self)?.end() }

    var holdsLease: Bool { lease.holds }
    var leaseSeconds: Double { lease.secondsLeft }
    var isLeader: Bool { lease.isLeader }
    var clock: any TimeSource { lease.clock }
    var takeoverTime: Int64? { lease.takeoverTime }
    var firstNode: Int64? { first.withLock(\.self) }

    func note(firstNode: Int64) { first.withLock { $0 = firstNode } }
    func noteLead() { note(leader: node.number, at: position.withLock(\.self)) }
    func drain() { lease.drain() }

    /// Call it once.
    func follow(_ nodes: NodeFollower) {
        self.nodes.withLock { $0 = nodes }
        let started = PostgresFollower(target, reach, node, channel: channel, lease, gaps, first, nodes)
        follower.withLock { $0 = started }
    }

    /// What this process has seen of the journal.
    var seen: JournalPosition { nodes.withLock(\.self)?.order.seen ?? start.position }

    /// What the writer has read or stored.
    ///
    /// - Parameters:
    ///   - leader: the number of the node that leads; nil if none does.
    ///   - position: of the last commit then.
    func note(leader: Int64?, at position: Int64) {
        guard lease.note(isLeader: leader == node.number, at: position) else { return }
        nodes.withLock(\.self)?.noteLead()
    }

    /// Gives the lease back, if the server can be reached. Otherwise it ends by itself.
    func leave() {
        follower.withLock { $0.take() }?.close()
        guard lease.holds else { return }
        lease.lose(.databaseAway(why: "this node has given its lease back"))
        do {
            try giveBack()
        } catch {
            log.warning("This node could not give its lease back. Other nodes take over when it has ended. \(error)")
        }
    }

    private func giveBack() throws {
        let deadline = ContinuousClock.now + Self.patience
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd node"
        options.timeout = Self.patience
        options.connectTimeout = .seconds(2)
        options.connectLimit = .seconds(3)
        let connection = try PostgresConnection(to: target, options: options)
        defer { connection.close() }
        connection.deadline = deadline
        try PostgresNode.leave(node, channel: channel, on: connection)
    }

    /// It waits for the lock on the journal, which another node holds while it commits: for seconds if the disk of the server is
    /// slow. A longer wait is of no use, because the lease ends by itself about then.
    private static let patience: Duration = .seconds(8)
}

/// The row of this service in the table of nodes.
enum PostgresNode {
    struct Registration {
        var node: Node
        /// The last commit before.
        var position: JournalPosition
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
                    node: node,
                    position: JournalPosition(commits: try journal[0].value(0), lastEvent: try journal[0].value(1)),
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
        "SELECT epoch, expires_at, place, machine, folder, url FROM nodes WHERE id = $1 AND expires_at > \(ServerTime.now)"

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
        VALUES ($1, 1, $2, $3, $4, $5, \(ServerTime.now), \(ServerTime.leaseEnd), $6, $7, $8)
        ON CONFLICT (id) DO UPDATE SET epoch = nodes.epoch + 1, url = excluded.url, version = excluded.version,
            downloads = excluded.downloads, slots = excluded.slots, is_draining = 0, started_at = excluded.started_at,
            expires_at = excluded.expires_at, place = excluded.place, machine = excluded.machine,
            folder = excluded.folder
        RETURNING number, epoch, \(ServerTime.now)
        """

    /// No node leads if the leader is a former process of this node, or has no lease.
    private static let endLead = """
        UPDATE journal SET leader = NULL WHERE leader = $1
            OR leader NOT IN (SELECT number FROM nodes WHERE expires_at > \(ServerTime.now))
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
        let text = notice.text(at: 0, of: node.number)
        return PostgresStatement("SELECT pg_notify($1, $2)", [.text(channel), .text(text)])
    }

    /// The channel of the notices. Tables in another schema have another channel.
    static func channel(on connection: PostgresConnection) throws -> String {
        let rows = try connection.execute(
            PostgresStatement("SELECT 'fetchd_' || current_schema()", isPrepared: false))
        return try rows[0].value(0)
    }
}
