import Downloads

/// Parts and files without a node are older than the nodes: of a service with SQLite, or of version 0.2.0. They are in the folder
/// of one machine.
extension Store {
    /// The number of the node that has the parts and the files without a node; nil: it is not known, or this is a database of one
    /// service.
    public var firstNode: Int64? { engine.firstNode }

    /// Parts and finished files without a node, at most 1,000 of each, the latest first.
    public func filesWithoutNode() async throws(StoreError) -> (parts: [PartID], files: [FinishedFile]) {
        guard node != nil else { return ([], []) }
        return try await read { [sealer] db in
            let parts = try db.rows(Self.partsWithoutNode).map { PartID($0["id"]) }
            let jobs = try db.rows(Self.jobsWithoutNode).map { JobID($0["id"]) }
            let files = try jobs.compactMap { try JobRow.job($0, in: db, sealer)?.state.finish?.file }
            return (parts, files)
        }
    }

    /// Makes this node the first node, unless another one is it already.
    public func becomeFirstNode() async throws {
        if let first = try await writer.write({ try $0.becomeFirstNode() }) { engine.note(firstNode: first) }
    }

    private static let partsWithoutNode =
        "SELECT id FROM parts WHERE id NOT LIKE '%-%' ORDER BY id DESC LIMIT 1000"
    private static let jobsWithoutNode =
        "SELECT id FROM jobs WHERE node IS NULL AND state = 'succeeded' ORDER BY id DESC LIMIT 1000"
}

extension Transaction {
    /// - Returns: the number of the first node; nil in a database of one service.
    func becomeFirstNode() throws -> Int64? {
        guard let node else { return nil }
        try run("UPDATE journal SET first_node = coalesce(first_node, ?)", [node.number])
        return try firstNode()
    }

    /// See `Store.firstNode`. Only for PostgreSQL.
    func firstNode() throws -> Int64? {
        try row("SELECT first_node FROM journal").flatMap { $0["first_node"] as Int64? }
    }
}
