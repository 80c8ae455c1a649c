import Downloads

/// What an attempt has received, as far as the quota of its token counts it.
struct ReceivedByAttempt {
    /// `Job.admissions` of the attempt.
    var admission: Int
    var bytes: Int64
}

/// The rows that the writer keeps in memory: the jobs that have not ended, and what each of their changes needs of the
/// session. Only the writer's thread uses it, so every version is the one that the next statement would read.
final class WorkingSet: @unchecked Sendable {
    /// The key of what is kept of all tokens together: an admission of jobs needs the quotas of all.
    enum AllTokens { case all }

    let jobs = RowVersions<JobID, Job>(limit: 10_000) { $0.state.isOutstanding }
    let sessions = RowVersions<Name, Session>(limit: 1000)
    /// The batch of each session that takes jobs.
    let currentBatches = RowVersions<Name, Batch>(limit: 1000)
    /// The enabled webhooks of each session.
    let subscriptions = RowVersions<Name, [WebhookSubscription]>(limit: 1000)
    /// The webhooks that a service posts to (`Transaction.leaseWebhook`).
    let leasedWebhooks = RowVersions<Int64, Bool>(limit: 1000)
    /// How many jobs of each session wait for help of the client.
    let blockedJobs = RowVersions<Name, Int>(limit: 1000)
    /// The bytes that the jobs of each session with a `max_total_size` hold.
    let heldBytes = RowVersions<Name, Int64>(limit: 1000)
    /// The quotas of tokens that can delay the start of jobs.
    let transferQuotas = RowVersions<AllTokens, [TokenID: TokenQuotas]>(limit: 1)
    /// Of the running attempts of this service. It is in no row, and without it bytes would be counted twice: so it has no limit,
    /// and stays when the rows are read again.
    let received = RowVersions<JobID, ReceivedByAttempt>(limit: .max)

    /// What jobs share: nearly each commit of another service changes it.
    private let shared: [any LayeredVersions]
    private let all: [any LayeredVersions]

    init() {
        shared = [
            sessions, currentBatches, subscriptions, leasedWebhooks, blockedJobs, heldBytes, transferQuotas,
        ]
        all = [jobs, received] + shared
    }

    /// The write under way succeeded; it becomes durable with its group.
    func keepWrite() { for versions in all { versions.keepWrite() } }

    /// The write under way was refused.
    func dropWrite() { for versions in all { versions.dropWrite() } }

    /// The group begins again.
    func dropGroup() { for versions in all { versions.dropGroup() } }

    /// The group commit is durable.
    func commit() { for versions in all { versions.commit() } }

    /// The group begins, after commits of other services. A commit names the jobs that it has changed.
    func follow(_ changed: CommitNotice.Jobs) {
        guard case .these(let ids) = changed else { return removeAll() }
        jobs.dropGroup()
        jobs.removeCommitted(ids)
        removeShared()
    }

    /// The group commit failed.
    ///
    /// - Parameter isUncertain: whether it may be stored nevertheless. Then its bytes are taken as counted.
    func fail(isUncertain: Bool) {
        if isUncertain { received.commit() }
        removeAll()
    }

    /// The rows are read again: a group begins after changes of others, or a statement has changed rows of all kinds.
    func removeAll() {
        jobs.removeAll()
        removeShared()
    }

    private func removeShared() {
        for versions in shared { versions.removeAll() }
        received.dropGroup()
    }
}

/// What every kind of row has in common.
private protocol LayeredVersions {
    func keepWrite()
    func dropWrite()
    func dropGroup()
    func commit()
    func removeAll()
}

/// The newest versions of rows that the writer has read or written, so that it does not read them again.
///
/// A write of a group commit can be refused, and the commit can fail. So a version first belongs to the write, then to the
/// group, and is committed in the end.
final class RowVersions<Key: Hashable, Value>: LayeredVersions {
    /// An object, because a job is large, and a version moves through three dictionaries.
    private final class Version {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// nil: the writer must read the row, because it was deleted or changed by a statement over a set of rows.
    private typealias Layer = [Key: Version?]

    private var committed: [Key: Version] = [:]
    private var group: Layer = [:]
    private var write: Layer = [:]
    /// The largest number of committed versions that are kept. Versions beyond it are read again.
    private let limit: Int
    /// Whether the writer will probably need a row again.
    private let isKept: (Value) -> Bool

    init(limit: Int, keepsWhere isKept: @escaping (Value) -> Bool = { _ in true }) {
        self.limit = limit
        self.isKept = isKept
    }

    /// The newest version; nil when the row must be read.
    subscript(key: Key) -> Value? {
        if let version = write[key] { return version?.value }
        if let version = group[key] { return version?.value }
        return committed[key]?.value
    }

    /// Notes the version that the write under way has read or written.
    func note(_ value: Value, for key: Key) { write[key] = .some(Version(value)) }

    /// The write under way has deleted the row, or changed it without its value.
    func forget(_ key: Key) { write[key] = .some(nil) }

    /// The version of the group commit under way; nil when it has none, or the row must be read.
    func ofGroup(_ key: Key) -> Value? { (group[key] ?? nil)?.value }

    func keepWrite() {
        if group.isEmpty { swap(&group, &write) } else { group.merge(write) { $1 } }
        write.removeAll(keepingCapacity: true)
    }

    func dropWrite() { write.removeAll(keepingCapacity: true) }

    func dropGroup() {
        group.removeAll(keepingCapacity: true)
        dropWrite()
    }

    func commit() {
        for (key, version) in group {
            if let version, isKept(version.value), committed.count < limit || committed[key] != nil {
                committed[key] = version
            } else {
                committed[key] = nil
            }
        }
        group.removeAll(keepingCapacity: true)
    }

    /// Another service has changed these rows. The group begins.
    func removeCommitted(_ keys: some Sequence<Key>) { for key in keys { committed[key] = nil } }

    func removeAll() {
        committed = [:]
        group = [:]
        write = [:]
    }
}
