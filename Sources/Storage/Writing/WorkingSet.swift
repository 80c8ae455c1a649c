import Downloads

/// The rows that the writer keeps in memory: the jobs that have not ended, and what each of their changes needs of the
/// session. Only the writer's thread uses it, so every version is the one that the next statement would read.
final class WorkingSet: @unchecked Sendable {
    /// The tokens, as they are committed.
    let tokens: TokenTable
    var jobs = RowVersions<JobID, Job>(limit: 10_000)
    var sessions = RowVersions<Name, Session>(limit: 1000)
    /// The batch of each session that takes jobs.
    var currentBatches = RowVersions<Name, Batch>(limit: 1000)
    /// The enabled webhooks of each session.
    var subscriptions = RowVersions<Name, [WebhookSubscription]>(limit: 1000)
    /// How many jobs of each session wait for help of the client.
    var blockedJobs = RowVersions<Name, Int>(limit: 1000)
    /// The bytes that the jobs of each session with a `max_total_size` hold.
    var heldBytes = RowVersions<Name, Int64>(limit: 1000)

    init(tokens: TokenTable) { self.tokens = tokens }

    /// The write under way succeeded; it becomes durable with its group.
    func keepWrite() {
        jobs.keepWrite()
        sessions.keepWrite()
        currentBatches.keepWrite()
        subscriptions.keepWrite()
        blockedJobs.keepWrite()
        heldBytes.keepWrite()
    }

    /// The write under way was refused.
    func dropWrite() {
        jobs.dropWrite()
        sessions.dropWrite()
        currentBatches.dropWrite()
        subscriptions.dropWrite()
        blockedJobs.dropWrite()
        heldBytes.dropWrite()
    }

    /// The group begins again.
    func dropGroup() {
        jobs.dropGroup()
        sessions.dropGroup()
        currentBatches.dropGroup()
        subscriptions.dropGroup()
        blockedJobs.dropGroup()
        heldBytes.dropGroup()
    }

    /// The group commit is durable.
    func commit() {
        jobs.commit { $0.state.isOutstanding }
        sessions.commit { _ in true }
        currentBatches.commit { _ in true }
        subscriptions.commit { _ in true }
        blockedJobs.commit { _ in true }
        heldBytes.commit { _ in true }
    }

    /// The group commit failed, or a statement has changed rows of all kinds.
    func removeAll() {
        jobs.removeAll()
        sessions.removeAll()
        currentBatches.removeAll()
        subscriptions.removeAll()
        blockedJobs.removeAll()
        heldBytes.removeAll()
    }
}
