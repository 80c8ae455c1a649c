import Base
import Downloads
import Foundation
import PostgresClient

/// Keeps the memory of this node as the other nodes change the database.
struct NodeFollower: Sendable {
    let order: CommitOrder
    let jobCache: JobCache
    let tokens: TokenTable
    let exchange: NodeExchange
    /// Sets the events of these kinds of work.
    let wake: @Sendable (Set<WorkKind>) -> Void
    /// Called when this process is not the node any more, with the reason.
    let lose: @Sendable (StoreError) -> Void
    /// What others have changed since the last read.
    private let changed = Locked(Changes())

    private struct Changes {
        var jobs: Set<JobID> = []
        /// Whether any other job may have changed, too.
        var hasAnyJob = false
        var hasTokens = false
        /// Of the tokens in memory, before the snapshot began.
        var tokensVersion = 0
        /// `tokensVersion` of the last read of the tokens.
        var readTokensVersion = 0
        /// When `hasAnyJob` was passed on last.
        var passedAnyJobAt: ContinuousClock.Instant?

        /// At most once a second: each request that waits for a job then reads the job again. The follower looks again after
        /// a second.
        mutating func takeAnyJob() -> Bool {
            let now = ContinuousClock.now
            guard hasAnyJob, passedAnyJobAt.map({ now - $0 >= .seconds(1) }) ?? true else { return false }
            hasAnyJob = false
            passedAnyJobAt = now
            return true
        }

        /// - Returns: the version of the tokens in memory, if they have to be read; else nil.
        mutating func takeTokens() -> Int? {
            guard hasTokens || tokensVersion != readTokensVersion else { return nil }
            hasTokens = false
            return tokensVersion
        }
    }

    init(
        order: CommitOrder, jobCache: JobCache, tokens: TokenTable, exchange: NodeExchange,
        wake: @escaping @Sendable (Set<WorkKind>) -> Void,
        lose: @escaping @Sendable (StoreError) -> Void
    ) {
        self.order = order
        self.jobCache = jobCache
        self.tokens = tokens
        self.exchange = exchange
        self.wake = wake
        self.lose = lose
    }

    /// Another node has committed.
    ///
    /// - Parameter position: of the commit.
    func take(_ notice: CommitNotice, at position: Int64) {
        switch notice.jobs {
        case .any:
            jobCache.removeAll(at: position)
            changed.withLock { $0.hasAnyJob = true }
        case .these(let jobs):
            jobCache.remove(jobs, at: position)
            changed.withLock { $0.jobs.formUnion(jobs) }
        }
        if notice.work.contains(.tokens) { changed.withLock { $0.hasTokens = true } }
        wake(notice.work)
    }

    /// Notices may be lost.
    func refresh() {
        jobCache.removeAll()
        changed.withLock {
            $0.hasAnyJob = true
            $0.hasTokens = true
        }
        wake(Set(WorkKind.allCases))
    }

    /// What this node has seen of the others.
    ///
    /// - Parameters:
    ///   - leads: whether this node leads from now on.
    ///   - isLed: whether a node leads.
    ///   - hasEndedNodes: whether there are nodes whose leases have ended, and whose jobs this node may take over.
    func note(leads: Bool, isLed: Bool, hasEndedNodes: Bool) {
        if leads { noteLead() }
        if !isLed || hasEndedNodes { wake([.nodes]) }
    }

    /// This node leads from now on. The workers of the leader did nothing here while another node led.
    func noteLead() { wake(Set(WorkKind.allCases)) }

    /// Reads the next events of the journal.
    ///
    /// - Parameter position: of the last commit in the snapshot.
    /// - Returns: whether there are more.
    func read(to position: Int64, in db: SQLConnection) throws -> Bool {
        try reloadTokens(in: db)
        let lastEvent = order.lacks(position)
        let events = try lastEvent.map { try Self.events(after: $0, in: db) } ?? []
        // Nothing fails from here on, so no change is forgotten.
        var commit = takeChanges()
        guard lastEvent != nil else {
            // The events were read before the notice came.
            if !commit.isEmpty { order.follow(commit, to: nil) }
            return false
        }
        commit.events = events
        commit.jobs.formUnion(commit.events.compactMap(\.job))
        // The observers must not find an earlier version than the event reports.
        jobCache.remove(commit.jobs, at: position)
        let isWhole = commit.events.count < Self.page
        order.follow(commit, to: isWhole ? position : nil)
        return !isWhole
    }

    /// Also reads the tokens after each change by this node: the hook of its commit may have run late, when the answer to the
    /// commit was lost, and may have restored what another node has changed since.
    ///
    /// If this node changes a token meanwhile, the rows of the snapshot are older, and the next look reads them again.
    private func reloadTokens(in db: SQLConnection) throws {
        guard let version = changed.withLock({ $0.takeTokens() }) else { return }
        let stored = try db.rows("SELECT * FROM tokens").map(TokenRow.token)
        guard tokens.replaceAll(by: stored, readAt: version) else { return }
        changed.withLock { $0.readTokensVersion = version }
    }

    /// Called before a snapshot begins.
    func prepareRead() { changed.withLock { $0.tokensVersion = tokens.version } }

    private static func events(after last: EventID, in db: SQLConnection) throws -> [Event] {
        try db.map("SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?", [last, page]) { try EventRow.event($0) }
    }

    /// A commit without events, of the jobs that others have changed.
    private func takeChanges() -> Commit {
        var commit = Commit()
        (commit.jobs, commit.hasAnyJob) = changed.withLock { changed in
            defer { changed.jobs = [] }
            return (changed.jobs, changed.takeAnyJob())
        }
        return commit
    }

    private static let page = 2000
}

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
