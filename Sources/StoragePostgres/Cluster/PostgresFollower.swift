import Base
import Downloads
import Foundation
import PostgresClient
import Storage

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
        self.target = target
        self.reach = reach
        self.node = node
        self.channel = channel
        self.lease = lease
        self.gaps = gaps
        self.firstNode = firstNode
        self.follower = follower
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
                $0.node != node.number
            }
            for found in notices { follower.take(found.notice, at: found.position) }
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
        let found = try JournalGaps.Found(
            commits: state["commits"], lastGap: state["last_gap"], isContinued: state["is_continued"])
        if gaps.isDoubtful(found, seen) {
            session.rollBack()
            guard try !gaps.follow(seen, on: connection) else { throw StoreError.changesLost }
            return true
        }
        if let first: Int64 = try state["first_node"] { firstNode.withLock { $0 = first } }
        let position: Int64 = try state["commits"]
        let leads = try lease.note(isLeader: (state["leader"] as Int64?) == node.number, at: position)
        try follower.note(
            leads: leads, isLed: state["is_led"], hasEndedNodes: time != nil && (state["ended"] as Bool))
        return try follower.read(to: position, in: db)
    }

    private var state: String {
        """
        SELECT commits, leader, first_node, \(gaps.columns),
            leader IS NOT NULL AND EXISTS (SELECT 1 FROM nodes WHERE number = leader AND expires_at IS NOT NULL) AS is_led,
            EXISTS (SELECT 1 FROM nodes WHERE \(ServerTime.hasEnded("expires_at", own: "?1"))) AS ended
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

/// Writes the progress of this node's jobs, and reads that of the others, in two round trips. The table is not durable, so
/// this needs neither the lock of the journal nor a disk sync. A change of the node's limit, which is rare, is durable.
enum PostgresExchange {
    static func run(_ exchange: NodeExchange, of node: Node, on connection: PostgresConnection) throws {
        let changes = changes(exchange, of: node)
        try connection.transaction { transaction in try transaction.commit(with: changes) }
        let results = try connection.read([
            PostgresStatement(others, [.int8(node.number)]), PostgresStatement(demand, [.int8(node.number)]),
        ])
        exchange.take(
            try results[0].compactMap { row in
                NodeExchange.Report(
                    job: JobID(try row.value(0)), session: Name(trusted: try row.value(1)), text: try row.value(2))
            },
            Dictionary(
                try results[1].map { row in
                    (Name(trusted: try row.value(0)), .init(own: try row.value(1), all: try row.value(2)))
                }
            ) { $1 })
    }

    private static func changes(_ exchange: NodeExchange, of node: Node) -> [PostgresStatement] {
        let (number, reports) = (PostgresValue.int8(node.number), exchange.own)
        let jobs = PostgresValue.textArray(reports.map(\.job.text))
        var changes = [
            PostgresStatement(removal, [number, jobs]),
            PostgresStatement(
                upsert,
                [number, jobs, .textArray(reports.map(\.session.text)), .textArray(reports.map(\.text))]),
        ]
        if let slots = exchange.slots {
            changes.append(PostgresStatement(limit, [number, .int8(node.epoch), .int8(Int64(slots))]))
        }
        return changes
    }

    private static let limit = "UPDATE nodes SET slots = $3 WHERE number = $1 AND epoch = $2 AND slots <> $3"

    /// An anti-join, which PostgreSQL hashes. With `job <> ALL ($2)`, the generic plan of a prepared statement compares each
    /// row with each job, which takes 1.3 s for 10,000 jobs; the anti-join takes 13 ms.
    private static let removal = """
        DELETE FROM node_progress WHERE node = $1
            AND NOT EXISTS (SELECT 1 FROM unnest($2) AS reports (job) WHERE reports.job = node_progress.job)
        """

    private static let upsert = """
        INSERT INTO node_progress (job, node, session, report, at)
        SELECT job, $1, session, report, \(ServerTime.now) FROM unnest($2, $3, $4) AS reports (job, session, report)
        ON CONFLICT (job) DO UPDATE SET node = excluded.node, report = excluded.report, at = excluded.at
        """

    private static let others =
        "SELECT job, session, report FROM node_progress WHERE node <> $1 AND at > \(ServerTime.now) - 5000"

    private static let demand = """
        SELECT session, sum(CASE WHEN node = $1 THEN 1 ELSE 0 END), count(*) FROM jobs WHERE state = 'running'
        GROUP BY session
        """
}
