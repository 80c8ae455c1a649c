import Downloads
import Locks

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
            (hasAnyJob, passedAnyJobAt) = (false, now)
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
        (self.order, self.jobCache, self.tokens, self.exchange) = (order, jobCache, tokens, exchange)
        (self.wake, self.lose) = (wake, lose)
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
        changed.withLock { ($0.hasAnyJob, $0.hasTokens) = (true, true) }
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
