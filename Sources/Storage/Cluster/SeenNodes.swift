/// What a node has seen of the others lately.
struct SeenNodes: Sendable {
    /// See `Store.firstNode`.
    var firstNode: Int64?
    /// Whether other nodes have a lease.
    var hasOthers = true
}
