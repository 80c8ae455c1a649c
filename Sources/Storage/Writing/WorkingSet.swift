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

    var jobs = RowVersions<JobID, Job>(limit: 10_000)
    var sessions = RowVersions<Name, Session>(limit: 1000)
    /// The batch of each session that takes jobs.
    var currentBatches = RowVersions<Name, Batch>(limit: 1000)
    /// The enabled webhooks of each session.
    var subscriptions = RowVersions<Name, [WebhookSubscription]>(limit: 1000)
    /// The webhooks that a node has the lease of.
    var leasedWebhooks = RowVersions<Int64, Bool>(limit: 1000)
    /// How many jobs of each session wait for help of the client.
    var blockedJobs = RowVersions<Name, Int>(limit: 1000)
    /// The bytes that the jobs of each session with a `max_total_size` hold.
    var heldBytes = RowVersions<Name, Int64>(limit: 1000)
    /// The quotas of tokens that can delay the start of jobs.
    var transferQuotas = RowVersions<AllTokens, [TokenID: TokenQuotas]>(limit: 1)
    /// Of the running attempts of this service. It is in no row, and without it bytes would be counted twice: so it has no limit,
    /// and stays when the rows are read again.
    var received = RowVersions<JobID, ReceivedByAttempt>(limit: .max)

    /// The write under way succeeded; it becomes durable with its group.
    func keepWrite() {
        jobs.keepWrite()
        sessions.keepWrite()
        currentBatches.keepWrite()
        subscriptions.keepWrite()
        leasedWebhooks.keepWrite()
        blockedJobs.keepWrite()
        heldBytes.keepWrite()
        transferQuotas.keepWrite()
        received.keepWrite()
    }

    /// The write under way was refused.
    func dropWrite() {
        jobs.dropWrite()
        sessions.dropWrite()
        currentBatches.dropWrite()
        subscriptions.dropWrite()
        leasedWebhooks.dropWrite()
        blockedJobs.dropWrite()
        heldBytes.dropWrite()
        transferQuotas.dropWrite()
        received.dropWrite()
    }

    /// The group begins again.
    func dropGroup() {
        jobs.dropGroup()
        sessions.dropGroup()
        currentBatches.dropGroup()
        subscriptions.dropGroup()
        leasedWebhooks.dropGroup()
        blockedJobs.dropGroup()
        heldBytes.dropGroup()
        transferQuotas.dropGroup()
        received.dropGroup()
    }

    /// The group begins, after commits of other nodes. A commit names the jobs that it has changed. What they share changes with
    /// nearly each of them.
    func follow(_ changed: CommitNotice.Jobs) {
        guard case .these(let ids) = changed else { return removeAll() }
        jobs.dropGroup()
        jobs.removeCommitted(ids)
        removeShared()
    }

    /// The group commit is durable.
    func commit() {
        jobs.commit { $0.state.isOutstanding }
        sessions.commit { _ in true }
        currentBatches.commit { _ in true }
        subscriptions.commit { _ in true }
        leasedWebhooks.commit { _ in true }
        blockedJobs.commit { _ in true }
        heldBytes.commit { _ in true }
        transferQuotas.commit { _ in true }
        received.commit { _ in true }
    }

    /// The group commit failed.
    ///
    /// - Parameter isUncertain: whether it may be stored nevertheless. Then its bytes are taken as counted.
    func fail(isUncertain: Bool) {
        if isUncertain { received.commit { _ in true } }
        removeAll()
    }

    /// The rows are read again: a group begins after changes of others, or a statement has changed rows of all kinds.
    func removeAll() {
        jobs.removeAll()
        removeShared()
    }

    /// All but the jobs.
    private func removeShared() {
        sessions.removeAll()
        currentBatches.removeAll()
        subscriptions.removeAll()
        leasedWebhooks.removeAll()
        blockedJobs.removeAll()
        heldBytes.removeAll()
        transferQuotas.removeAll()
        received.dropGroup()
    }
}
