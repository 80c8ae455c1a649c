import Downloads

/// What the writes of a group have changed. It is true when the group is durable.
///
/// Only the writer's thread uses it.
struct WrittenGroup: @unchecked Sendable {
    var writes: [any PendingWrite]
    /// The change of the clock that the group follows.
    var clock: ClockChange?
    /// In the order of all commits; nil if it has changed no data, and before it is committed.
    var position: Int64?
    var due: Set<WorkKind> = []
    var changes = Commit()
    var counts = CountChanges()
    /// The cached jobs as they are at the end of the group.
    var jobs: [JobID: Job] = [:]

    /// For the other nodes of the database.
    var notice: CommitNotice {
        // A change of the clock moves the times of any job.
        let movesTimes = clock.map { $0.jump != nil || $0.isFirst } ?? false
        return CommitNotice(work: due, jobs: movesTimes ? .any : .these(changes.jobs))
    }

    mutating func add(_ transaction: Transaction) {
        due.formUnion(transaction.due)
        changes.add(transaction.changes)
        counts.add(transaction.counts)
    }
}
