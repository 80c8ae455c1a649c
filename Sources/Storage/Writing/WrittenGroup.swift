import Downloads

/// What the writes of a group have changed. It is true when the group is durable.
///
/// Only the writer's thread uses it.
struct WrittenGroup: @unchecked Sendable {
    var writes: [any PendingWrite]
    /// The change of the clock that the group follows.
    var clock: ClockChange?
    var due: Set<WorkKind> = []
    var changes = Commit()
    var counts = CountChanges()
    /// The cached jobs as they are at the end of the group.
    var jobs: [JobID: Job] = [:]

    mutating func add(_ transaction: Transaction) {
        due.formUnion(transaction.due)
        changes.add(transaction.changes)
        counts.add(transaction.counts)
    }
}
