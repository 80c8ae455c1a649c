import Downloads
import Foundation
import Locks
import PostgresClient

/// Renews the lease of this node, and follows the commits of the other nodes, on a thread and a connection of its own.
///
/// A notification announces each commit to the nodes. It also looks at the journal every second, and reads everything again
/// after it was disconnected, so a lost notification delays it and no more.
final class PostgresFollower: Sendable {
    private let target: PostgresTarget
    private let node: Node
    private let channel: String
    private let lease: NodeLease
    private let follower: NodeFollower
    private let isClosed = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    init(_ target: PostgresTarget, _ node: Node, channel: String, _ lease: NodeLease, _ follower: NodeFollower) {
        (self.target, self.node, self.channel) = (target, node, channel)
        (self.lease, self.follower) = (lease, follower)
        let thread = Thread { [self] in
            run()
            ended.signal()
        }
        thread.name = "fetchd.node"
        thread.start()
    }

    /// Returns when the thread has ended.
    func close() {
        isClosed.withLock { $0 = true }
        ended.wait()
    }

    private func run() {
        while !isClosed.withLock(\.self) {
            do {
                try follow(try connect())
            } catch NodeEnd.replaced {
                lease.lose()
                return follower.lose()
            } catch {
                // The writer reports the fault of the server, if it lasts.
                lease.noteLoss()
                pause()
            }
        }
    }

    /// So that the nodes do not all come back at once.
    private func pause() { Thread.sleep(forTimeInterval: .random(in: 0.1...0.4)) }

    private func connect() throws -> PostgresConnection {
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd node"
        options.timeout = .seconds(3)
        options.connectTimeout = .seconds(3)
        let connection = try PostgresConnection(to: target, options: options)
        try connection.execute(PostgresStatement("LISTEN \"\(channel)\"", isPrepared: false))
        return connection
    }

    private func follow(_ connection: PostgresConnection) throws {
        defer { connection.close() }
        let dialect = PostgresDialect()
        var renewal = Renewal(node)
        try renewal.renew(lease, on: connection)
        // Notifications were perhaps missed before.
        follower.refresh()
        try look(connection, dialect, renewal)
        while !isClosed.withLock(\.self) {
            let received = try connection.waitForNotifications(atMost: .milliseconds(500))
            // The connection drops further notifications until these are taken.
            if received.count >= PostgresConnection.notificationLimit { follower.refresh() }
            let notices = received.compactMap { CommitNotice.parse($0.payload) }.filter {
                $0.origin.node != node.number
            }
            for (origin, notice) in notices { follower.take(notice, at: origin.position) }
            if renewal.isDue(at: lease.uptime, isDraining: lease.isDraining) {
                try renewal.renew(lease, on: connection)
            }
            let isSecondOver = renewal.looksAgain(at: lease.uptime)
            if !notices.isEmpty || isSecondOver { try look(connection, dialect, renewal) }
            if isSecondOver { try PostgresExchange.run(follower.exchange, of: node, on: connection) }
        }
    }

    /// Reads what the journal has and this node does not, and whether other nodes need a successor.
    private func look(_ connection: PostgresConnection, _ dialect: PostgresDialect, _ renewal: Renewal) throws {
        while try read(connection, dialect, renewal) {
            if renewal.isDue(at: lease.uptime) { return }
        }
    }

    /// - Returns: whether there is more to read.
    private func read(
        _ connection: PostgresConnection, _ dialect: PostgresDialect, _ renewal: Renewal
    ) throws -> Bool {
        follower.prepareRead()
        let session = PostgresSession(connection, dialect, .snapshot)
        defer { session.rollBack() }
        let db = SQLConnection(session)
        guard let state = try db.row(Self.state) else { return false }
        let leads = lease.note(isLeader: (state["leader"] as Int64?) == node.number)
        let cluster = Cluster(
            isLed: state["is_led"], hasEndedNodes: (state["ended"] as Bool) && lease.isSteady)
        follower.note(cluster, leads: leads)
        return try follower.read(to: state["commits"], in: db)
    }

    private static let state = """
        SELECT commits, leader,
            leader IS NOT NULL AND EXISTS (SELECT 1 FROM nodes WHERE number = leader AND expires_at IS NOT NULL) AS is_led,
            EXISTS (SELECT 1 FROM nodes WHERE expires_at < \(PostgresNode.now)) AS ended
        FROM journal
        """
}

/// What a node sees of the others.
struct Cluster {
    var isLed: Bool
    /// Nodes whose leases have ended, and which this node may succeed.
    var hasEndedNodes: Bool
}

/// Why a node cannot go on in this process.
private enum NodeEnd: Error {
    case replaced
}

/// When the lease is renewed.
private struct Renewal {
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

    mutating func renew(_ lease: NodeLease, on connection: PostgresConnection) throws {
        let (sentAt, isDraining) = (lease.uptime, lease.isDraining)
        let rows = try connection.execute(
            PostgresStatement(Self.statement, [.int8(node.number), .int8(node.epoch), .int8(isDraining ? 1 : 0)]))
        guard let row = rows.first else { throw NodeEnd.replaced }
        hasShownDraining = isDraining
        last = sentAt
        lease.renew(.init(serverTime: try row.value(0), sentAt: sentAt, answeredAt: lease.uptime))
    }

    private static let statement = """
        UPDATE nodes SET expires_at = \(PostgresNode.leaseEnd), is_draining = $3 WHERE number = $1 AND epoch = $2 RETURNING \(PostgresNode.now)
        """
}
