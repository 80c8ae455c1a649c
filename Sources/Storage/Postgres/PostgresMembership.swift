import Downloads
import Locks
import Logging
import PostgresClient

/// The possession of a node's row: the lease, and the thread that keeps it.
final class PostgresMembership: Sendable {
    let node: Node
    let lease: NodeLease
    /// The journal when the service became a node.
    let start: PostgresNode.Registration
    /// See `Store.firstNode`.
    let firstNode: Locked<Int64?>
    private let target: PostgresTarget
    private let reach: ServerReach
    private let channel: String
    private let log: Logger
    private let follower = Locked<PostgresFollower?>(nil)
    private let nodes = Locked<NodeFollower?>(nil)

    /// - Parameter id: see `NodeFile`.
    init(
        _ id: String, _ description: NodeDescription, _ target: PostgresTarget, _ reach: ServerReach, _ channel: String,
        _ connection: PostgresConnection, _ log: Logger
    ) throws {
        (self.target, self.reach, self.channel, self.log) = (target, reach, channel, log)
        let sentAt = SystemTime().uptime
        start = try PostgresNode.register(id, description, channel: channel, on: connection)
        (node, firstNode) = (start.node, Locked(start.firstNode))
        lease = NodeLease(
            .init(serverTime: start.serverTime, sentAt: sentAt, answeredAt: SystemTime().uptime))
    }

    /// The thread keeps the follower alive. Without this, a store that is released but not closed would renew its lease
    /// until the process ends.
    deinit { follower.withLock(\.self)?.end() }

    /// Call it once.
    func follow(_ nodes: NodeFollower) {
        self.nodes.withLock { $0 = nodes }
        let started = PostgresFollower(target, reach, node, channel: channel, lease, firstNode, nodes)
        follower.withLock { $0 = started }
    }

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
        lease.lose()
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
