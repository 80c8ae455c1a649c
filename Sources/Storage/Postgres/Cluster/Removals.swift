import Downloads

/// A file in the folder of this node that no job needs any more. Another node has dropped it.
public struct Removal: Sendable {
    public enum Subject: Sendable, Equatable {
        case part(PartID)
        case file(FinishedFile)
    }

    public let subject: Subject
    /// The columns of the row.
    let kind, name: String

    init(_ subject: Subject) throws {
        switch subject {
        case .part(let part):
            self.subject = subject
            kind = "part"
            name = part.text
        case .file(let file):
            let reduced = Self.identity(of: file)
            self.subject = .file(reduced)
            kind = "file"
            name = try Stored.text(reduced)
        }
    }

    /// What tells the file from others: its path, size and mark. The row is a key, whose length PostgreSQL limits to about
    /// 2,700 bytes, and the content type of an origin can be longer. A path has at most 1,280 bytes.
    private static func identity(of file: FinishedFile) -> FinishedFile {
        FinishedFile(path: file.path, size: file.size, sha256: nil, contentType: nil, mark: file.mark)
    }

    init(_ row: SQLRow) throws {
        kind = try row["kind"]
        name = try row["name"]
        subject = kind == "part" ? .part(PartID(name)) : .file(try Stored.value(FinishedFile.self, from: name))
    }
}

extension Store {
    /// The files that this node has to remove from its folder, at most 1,000.
    ///
    /// - Parameter last: the last file of the previous page; nil: begin with the first one.
    public func removals(after last: Removal? = nil) async throws(StoreError) -> [Removal] {
        guard let node else { return [] }
        return try await read { db in
            try db.rows(
                """
                SELECT kind, name FROM removals
                WHERE node = ? AND (kind, name) > (?, ?)
                    AND NOT EXISTS (SELECT 1 FROM parts WHERE kind = 'part' AND parts.id = name)
                ORDER BY kind, name LIMIT 1000
                """, [node.number, last?.kind ?? "", last?.name ?? ""]
            ).map(Removal.init)
        }
    }

    /// Called when the files are removed.
    public func forget(_ removals: [Removal]) async throws {
        guard let node, !removals.isEmpty else { return }
        try await writer.write { transaction in
            for removal in removals {
                try transaction.run(
                    "DELETE FROM removals WHERE node = ? AND kind = ? AND name = ?",
                    [node.number, removal.kind, removal.name])
            }
        }
    }
}

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
}
