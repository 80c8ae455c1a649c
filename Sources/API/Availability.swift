import Storage

/// Whether requests can be answered: the service is ready, and this node has its lease.
///
/// The jobs, events and tokens in the memory of a node without its lease can be outdated.
struct Availability: Sendable {
    private let readiness: Readiness
    /// nil on SQLite, where a request must not cost a look at the lease.
    private let sharedStore: Store?

    init(_ readiness: Readiness, _ store: Store) {
        self.readiness = readiness
        sharedStore = store.node == nil ? nil : store
    }

    /// - Throws: 503.
    func check() throws(Problem) {
        try readiness.check()
        try checkLease()
    }

    /// - Throws: 503 before the service starts its work, and when it stops.
    func checkReadiness() throws(Problem) { try readiness.check() }

    /// - Throws: 503 if this node has no lease, as when the database is away.
    func checkLease() throws(Problem) {
        guard let sharedStore else { return }
        do throws(StoreError) { try sharedStore.requireLease() } catch { throw Problem(error) }
    }

    /// The reply, or 503 if this node has lost its lease during the wait.
    func current(_ reply: Reply) -> Reply {
        do throws(Problem) {
            try checkLease()
            return reply
        } catch {
            return .response(error.response)
        }
    }
}
