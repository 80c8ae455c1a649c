import Downloads

/// Files in the folders of other nodes that have to be removed. Only the node that has a folder removes its files.
extension Transaction {
    /// The job has lost this part. This node removes the file itself, if it has made the part.
    func dropFile(of part: PartID) throws { try requestRemoval(.part(part), from: part.owner?.number) }

    /// The job is deleted with its file.
    func dropFile(of job: Job) throws {
        if let file = job.state.finish?.file { try dropFile(file, of: job.node) }
    }

    /// - Parameter number: the node that has moved the file to its place; nil: the file is older than the nodes.
    func dropFile(_ file: FinishedFile, of number: Int64?) throws { try requestRemoval(.file(file), from: number) }

    /// - Parameter number: the node that has made the file; nil: the file is older than the nodes.
    private func requestRemoval(_ subject: Removal.Subject, from number: Int64?) throws {
        guard let node, let other = try number ?? firstNode(), other != node.number else { return }
        let removal = try Removal(subject)
        try run(Self.storeRemoval, [other, removal.kind, removal.name])
        wake(.removals)
    }

    /// A removal for a forgotten node would never be read or deleted, so it is not stored.
    private static let storeRemoval = """
        INSERT INTO removals (node, kind, name)
        SELECT number, CAST(?2 AS text), CAST(?3 AS text) FROM nodes WHERE number = ?1
        ON CONFLICT DO NOTHING
        """

    /// Another job takes the part over, so its file stays.
    func keepFile(of part: PartID) throws {
        guard let node, part.owner?.number != node.number else { return }
        let removal = try Removal(.part(part))
        try run("DELETE FROM removals WHERE kind = ? AND name = ?", [removal.kind, removal.name])
    }

    func forget(_ removals: [Removal]) throws {
        guard let node else { return }
        for removal in removals {
            try run(
                "DELETE FROM removals WHERE node = ? AND kind = ? AND name = ?",
                [node.number, removal.kind, removal.name])
        }
    }
}
