/// What needs the lease of this node. On SQLite there is no lease, and nothing here has an effect.
extension Store {
    /// Call it before an answer from memory: without the lease, this node does not learn of changes by other nodes.
    ///
    /// - Throws: `databaseAway` if the lease has ended.
    public func requireLease() throws(StoreError) {
        guard holdsLease else { throw .leaseEnded }
    }

    /// Calls a function twice a second as long as this node has no lease. Returns when the task is cancelled, and on SQLite
    /// at once.
    public func whileWithoutLease(_ body: @Sendable () -> Void) async {
        guard node != nil else { return }
        while !Task.isCancelled {
            if !holdsLease { body() }
            try? await Task.sleep(for: .milliseconds(500))
        }
    }
}

extension StoreError {
    static let leaseEnded = StoreError.databaseAway(why: "this node could not renew its lease in the database")
}
