import Downloads
import Foundation
import Locks
import PostgresClient

/// Renews the lease of this node, and follows the commits of the other nodes, on a thread and a connection of its own.
///
/// A notification announces each commit to the nodes. It also looks at the journal about every second, and reads everything again
/// after it was disconnected, so a lost notification delays it and no more.
final class PostgresFollower: Sendable {
    private let target: PostgresTarget
    private let reach: ServerReach
    private let node: Node
    private let channel: String
    private let lease: NodeLease
    private let gaps: JournalGaps
    private let firstNode: Locked<Int64?>
    private let follower: NodeFollower
    private let isClosed = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    init(
        _ target: PostgresTarget, _ reach: ServerReach, _ node: Node, channel: String, _ lease: NodeLease,
        _ gaps: JournalGaps, _ firstNode: Locked<Int64?>, _ follower: NodeFollower
    ) {
        (self.target, self.reach, self.node, self.channel) = (target, reach, node, channel)
        (self.lease, self.gaps, self.firstNode, self.follower) = (lease, gaps, firstNode, follower)
        let thread = Thread { [self] in
            run()
            ended.signal()
        }
        thread.name = "fetchd.node"
        thread.start()
    }

    /// Returns when the thread has ended.
    func close() {
        end()
        ended.wait()
    }

    /// The thread ends, and with it the connection, when it looks next.
    func end() { isClosed.withLock { $0 = true } }

    private func run() {
        while !isClosed.withLock(\.self) {
            do {
                try follow(try connect())
            } catch let loss as StoreError where loss.isLossOfNode {
                lease.lose(loss)
                return follower.lose(loss)
            } catch {
                // The writer reports the fault of the server, if it lasts.
                if !lease.holds, (error as? PostgresError)?.isSilence == true { reach.noteSilence() }
                lease.noteLoss()
                pause()
            }
        }
    }

    /// So that the nodes do not all come back at once.
    private func pause() { Thread.sleep(forTimeInterval: .random(in: 0.1...0.4)) }

    static var options: PostgresConnection.Options {
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd node"
        options.timeout = .seconds(3)
        options.connectTimeout = .seconds(3)
        options.connectLimit = .seconds(4)
        // The server keeps the notices until every connection that listens has received them. So the connection of a
        // stopped process must end, or their queue fills up.
        options.endsWithoutItsClient()
        return options
    }

    private func connect() throws -> PostgresConnection {
        let connection = try PostgresConnection(to: target, options: Self.options)
        try reach.noteAnswer()
        try connection.execute(PostgresStatement("LISTEN \"\(channel)\"", isPrepared: false))
        return connection
    }

    private func follow(_ connection: PostgresConnection) throws {
        defer { connection.close() }
        let dialect = PostgresDialect()
        var renewal = LeaseRenewal(node)
        try renewal.renew(lease, on: connection)
        // Notifications were perhaps missed before.
        follower.refresh()
        try look(connection, dialect, renewal)
        while !isClosed.withLock(\.self) {
            let received = try connection.waitForNotifications(
                atMost: min(renewal.untilNextLook(at: lease.uptime), .milliseconds(500)))
            // The connection drops further notifications until these are taken.
            if received.count >= PostgresConnection.notificationLimit { follower.refresh() }
            let notices = received.compactMap { CommitNotice.parse($0.payload) }.filter {
                $0.origin.node != node.number
            }
            for (origin, notice) in notices { follower.take(notice, at: origin.position) }
            if renewal.isDue(at: lease.uptime, isDraining: lease.isDraining) {
                try renewal.renew(lease, on: connection)
            }
            let looksAgain = renewal.looksAgain(at: lease.uptime)
            if !notices.isEmpty || looksAgain { try look(connection, dialect, renewal) }
            if looksAgain { try PostgresExchange.run(follower.exchange, of: node, on: connection) }
        }
    }

    /// Reads what the journal has and this node does not, and whether the jobs of other nodes have to be taken over.
    private func look(_ connection: PostgresConnection, _ dialect: PostgresDialect, _ renewal: LeaseRenewal) throws {
        while try read(connection, dialect, renewal) {
            if renewal.isDue(at: lease.uptime) || renewal.untilNextLook(at: lease.uptime) == .zero { return }
        }
    }

    /// - Returns: whether there is more to read.
    private func read(
        _ connection: PostgresConnection, _ dialect: PostgresDialect, _ renewal: LeaseRenewal
    ) throws -> Bool {
        follower.prepareRead()
        let seen = follower.order.seen
        let session = PostgresSession(connection, dialect, .snapshot)
        defer { session.rollBack() }
        let db = SQLConnection(session)
        let time = lease.takeoverTime
        guard let state = try db.row(self.state, [time]) else { return false }
        let found = JournalGaps.Found(
            commits: state["commits"], lastGap: state["last_gap"], isContinued: state["is_continued"])
        if gaps.isDoubtful(found, seen) {
            session.rollBack()
            guard try !gaps.follow(seen, on: connection) else { throw StoreError.changesLost }
            return true
        }
        if let first: Int64 = state["first_node"] { firstNode.withLock { $0 = first } }
        let position: Int64 = state["commits"]
        let leads = lease.note(isLeader: (state["leader"] as Int64?) == node.number, at: position)
        follower.note(
            leads: leads, isLed: state["is_led"], hasEndedNodes: time != nil && (state["ended"] as Bool))
        return try follower.read(to: position, in: db)
    }

    private var state: String {
        """
        SELECT commits, leader, first_node, \(gaps.columns),
            leader IS NOT NULL AND EXISTS (SELECT 1 FROM nodes WHERE number = leader AND expires_at IS NOT NULL) AS is_led,
            EXISTS (SELECT 1 FROM nodes WHERE \(PostgresNode.hasEnded("expires_at", own: "?1"))) AS ended
        FROM journal
        """
    }
}

extension PostgresError {
    /// Whether the server did not answer, or cannot be reached. If a renewal is not answered in time, its outcome is
    /// unknown.
    var isSilence: Bool {
        switch self {
        case .timedOut, .connectFailed, .connectionLost, .outcomeUnknown: true
        case .targetInvalid, .statementFailed, .rolledBack, .interrupted, .closed, .parameterInvalid, .columnUnreadable:
            false
        }
    }
}
