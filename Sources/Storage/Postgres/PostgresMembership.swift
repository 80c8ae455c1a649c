import Downloads
import Foundation
import Locks
import Logging
import PostgresClient

/// The possession of a node's row: the lease, and the thread that keeps it.
final class PostgresMembership: Sendable {
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
    /// See `Store.firstNode`.
    let firstNode: Locked<Int64?>
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
        (self.target, self.reach, self.channel, log) = (target, reach, channel, applicant.log)
        gaps = try JournalGaps(on: connection)
        let (registration, sentAt) = try Self.register(applicant, channel, connection)
        start = registration
        (node, firstNode) = (start.node, Locked(start.firstNode))
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

    /// Call it once.
    func follow(_ nodes: NodeFollower) {
        self.nodes.withLock { $0 = nodes }
        let started = PostgresFollower(target, reach, node, channel: channel, lease, gaps, firstNode, nodes)
        follower.withLock { $0 = started }
    }

    /// What this process has seen of the journal.
    var seen: JournalGaps.Seen {
        nodes.withLock(\.self)?.order.seen ?? .init(commits: start.position, lastEvent: start.lastEvent)
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
