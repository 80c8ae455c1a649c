import Downloads
import Locks

/// Keeps the memory of this node as the other nodes change the database.
struct NodeFollower: Sendable {
    let order: CommitOrder
    let jobCache: JobCache
    let tokens: TokenTable
    /// Sets the events of these kinds of work.
    let wake: @Sendable (Set<WorkKind>) -> Void
    /// Called when this process is not the node any more.
    let lose: @Sendable () -> Void
    /// What others have changed since the last read.
    private let changed = Locked(Changes())

    private struct Changes {
        var jobs: Set<JobID> = []
        var hasTokens = false
    }

    init(
        order: CommitOrder, jobCache: JobCache, tokens: TokenTable, wake: @escaping @Sendable (Set<WorkKind>) -> Void,
        lose: @escaping @Sendable () -> Void
    ) {
        (self.order, self.jobCache, self.tokens) = (order, jobCache, tokens)
        (self.wake, self.lose) = (wake, lose)
    }

    /// Another node has committed.
    func take(_ notice: CommitNotice) {
        switch notice.jobs {
        case .any: jobCache.removeAll()
        case .these(let jobs):
            jobCache.update(jobs, with: [:])
            changed.withLock { $0.jobs.formUnion(jobs) }
        }
        if notice.work.contains(.tokens) { changed.withLock { $0.hasTokens = true } }
        wake(notice.work)
    }

    /// Notices may be lost.
    func refresh() {
        jobCache.removeAll()
        changed.withLock { $0.hasTokens = true }
        wake(Set(WorkKind.allCases))
    }

    /// - Parameter leads: whether this node leads from now on.
    func note(_ cluster: Cluster, leads: Bool) {
        if leads { wake(Set(WorkKind.allCases)) }
        if !cluster.isLed || cluster.hasEndedNodes { wake([.nodes]) }
    }

    /// Reads the next events of the journal.
    ///
    /// - Parameter position: of the last commit in the snapshot.
    /// - Returns: whether there are more.
    func read(to position: Int64, in db: SQLConnection) throws -> Bool {
        if changed.withLock({ $0.hasTokens }) {
            changed.withLock { $0.hasTokens = false }
            tokens.replaceAll(by: try db.rows("SELECT * FROM tokens").map(TokenRow.token))
        }
        guard let lastEvent = order.lacks(position) else { return false }
        var commit = Commit()
        commit.events = try db.map("SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?", [lastEvent, Self.page]) {
            try EventRow.event($0)
        }
        commit.jobs = changed.withLock { changed in
            defer { changed.jobs = [] }
            return changed.jobs
        }
        for event in commit.events { if let job = event.job { commit.jobs.insert(job) } }
        let isWhole = commit.events.count < Self.page
        order.follow(commit, to: isWhole ? position : nil)
        return !isWhole
    }

    private static let page = 2000
}
