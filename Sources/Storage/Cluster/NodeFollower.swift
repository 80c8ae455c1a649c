import Base
import Downloads
import Foundation

/// Keeps the memory of this node as the other nodes change the database.
package struct NodeFollower: Sendable {
    package let order: CommitOrder
    let jobCache: JobCache
    let tokens: TokenTable
    package let exchange: NodeExchange
    /// Sets the events of these kinds of work.
    let wake: @Sendable (Set<WorkKind>) -> Void
    /// Called when this process is not the node any more, with the reason.
    package let lose: @Sendable (StoreError) -> Void
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

    /// Another node has committed.
    ///
    /// - Parameter position: of the commit.
    package func take(_ notice: CommitNotice, at position: Int64) {
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
    package func refresh() {
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
    package func note(leads: Bool, isLed: Bool, hasEndedNodes: Bool) {
        if leads { noteLead() }
        if !isLed || hasEndedNodes { wake([.nodes]) }
    }

    /// This node leads from now on. The workers of the leader did nothing here while another node led.
    package func noteLead() { wake(Set(WorkKind.allCases)) }

    /// Reads the next events of the journal.
    ///
    /// - Parameter position: of the last commit in the snapshot.
    /// - Returns: whether there are more.
    package func read(to position: Int64, in db: SQLConnection) throws -> Bool {
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
    package func prepareRead() { changed.withLock { $0.tokensVersion = tokens.version } }

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

/// What a node tells the others about a commit: which kinds of work are due, and which jobs it has changed.
///
/// It travels as the payload of a notification of PostgreSQL, which has less than 8,000 bytes.
package struct CommitNotice: Sendable, Equatable {
    package enum Jobs: Sendable, Equatable {
        case these(Set<JobID>)
        /// Too many for a notice, or all.
        case any
    }

    package var work: Set<WorkKind>
    package var jobs: Jobs

    package init(work: Set<WorkKind> = [], jobs: Jobs = .these([])) {
        self.work = work
        self.jobs = jobs
    }
}

extension CommitNotice {
    /// `17 2 jb job_01...,job_02...`: the position, the node, the kinds of work and the jobs; `*` for any job.
    ///
    /// - Parameter position: `journal.commits` after the commit; 0 if it is not a commit of changes.
    package func text(at position: Int64, of node: Int64) -> String {
        let kinds = work.map(\.rawValue).sorted().joined()
        return "\(position) \(node) \(kinds) \(jobsText)"
    }

    private var jobsText: String {
        guard case .these(let ids) = jobs else { return "*" }
        let text = ids.map(\.text).sorted().joined(separator: ",")
        return text.utf8.count <= Self.longestList ? text : "*"
    }

    private static let longestList = 7000

    /// - Returns: nil if the text is no notice.
    package static func parse(_ text: String) -> (position: Int64, node: Int64, notice: CommitNotice)? {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 4, let position = Int64(fields[0]), let node = Int64(fields[1]) else { return nil }
        var notice = CommitNotice(work: Set(fields[2].compactMap { WorkKind(rawValue: String($0)) }))
        notice.jobs = fields[3] == "*" ? .any : .these(Set(fields[3].split(separator: ",").map { JobID(String($0)) }))
        return (position, node, notice)
    }
}

/// What the nodes tell each other every second without a group commit: the progress of their running jobs, how many run
/// where, and how many may run.
public final class NodeExchange: Sendable {
    /// A running job, as its node has reported it.
    public struct Report: Sendable {
        public var job: JobID
        public var session: Name
        public var live: LiveProgress

        public init(job: JobID, session: Name, live: LiveProgress) {
            self.job = job
            self.session = session
            self.live = live
        }
    }

    /// How many jobs run on this node and on all nodes.
    public struct Demand: Sendable, Equatable {
        public var own = 0
        public var all = 0

        public init(own: Int = 0, all: Int = 0) {
            self.own = own
            self.all = all
        }

        /// The part of a common limit that this node may use.
        public var share: Double { all == 0 ? 1 : Double(own) / Double(all) }
    }

    private struct State {
        var source: @Sendable () -> [Report] = { [] }
        var onDemand: @Sendable ([Name: Demand]) -> Void = { _ in }
        var slots: (@Sendable () -> Int)?
        var others: [JobID: Report] = [:]
    }

    private let state = Locked(State())

    init() {}

    /// - Parameters:
    ///   - source: the running jobs of this node.
    ///   - onDemand: called about every second with the running jobs of each session. It must return quickly.
    public func connect(
        _ source: @escaping @Sendable () -> [Report], onDemand: @escaping @Sendable ([Name: Demand]) -> Void
    ) {
        state.withLock {
            $0.source = source
            $0.onDemand = onDemand
        }
    }

    /// - Parameter slots: the largest number of jobs that run on this node at once. Before this call, it is that of the
    ///   node's description.
    public func reportSlots(_ slots: @escaping @Sendable () -> Int) { state.withLock { $0.slots = slots } }

    /// A job that runs on another node, as it was reported when this node reached the database last; nil if no node had reported
    /// it in the seconds before.
    public subscript(job: JobID) -> Report? { state.withLock { $0.others[job] } }

    /// The running jobs of the other nodes, when this node reached the database last.
    public var others: [Report] { state.withLock { Array($0.others.values) } }

    package var own: [Report] { state.withLock(\.source)() }
    package var slots: Int? { state.withLock(\.slots)?() }

    package func take(_ others: [Report], _ demand: [Name: Demand]) {
        let onDemand = state.withLock { state in
            state.others = Dictionary(others.map { ($0.job, $0) }) { $1 }
            return state.onDemand
        }
        onDemand(demand)
    }
}

extension NodeExchange.Report {
    /// The progress as the database has it: `transferring 1000 500 2000 - 7`; `-` for an unknown number.
    package var text: String {
        let numbers = [live.bytesReceived, live.bytesDurable, live.bytesExpected, live.bytesPerSecond, live.tick]
        return ([live.phase.rawValue] + numbers.map { $0.map(String.init) ?? "-" }).joined(separator: " ")
    }

    /// nil if another version wrote it in another way.
    package init?(job: JobID, session: Name, text: String) {
        let fields = text.split(separator: " ")
        guard fields.count == 6, let phase = LiveProgress.Phase(rawValue: String(fields[0])),
            let received = Int64(fields[1]), let durable = Int64(fields[2]), let tick = Int64(fields[5])
        else { return nil }
        self.init(
            job: job, session: session,
            live: LiveProgress(
                phase: phase, bytesReceived: received, bytesDurable: durable, bytesExpected: Int64(fields[3]),
                bytesPerSecond: Int64(fields[4]), tick: tick))
    }
}
