extension Store {
    /// The files that this node has to remove from its folder, at most 1,000.
    public func removals() async throws(StoreError) -> [Removal] {
        guard let node else { return [] }
        return try await read { db in
            try db.rows(
                """
                SELECT kind, name FROM removals
                WHERE node = ? AND NOT EXISTS (SELECT 1 FROM parts WHERE kind = 'part' AND parts.id = name)
                ORDER BY kind, name LIMIT 1000
                """, [node.number]
            ).map(Removal.init)
        }
    }

    /// Called when the files are removed.
    public func forget(_ removals: [Removal]) async throws {
        guard !removals.isEmpty else { return }
        try await writer.write { try $0.forget(removals) }
    }
}
