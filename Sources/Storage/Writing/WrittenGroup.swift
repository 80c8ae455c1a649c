import Downloads

/// What the writes of a group have changed. It is true when the group is durable.
struct WrittenGroup {
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
