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
        guard !removals.isEmpty else { return }
        try await writer.write { try $0.forget(removals) }
    }
}
