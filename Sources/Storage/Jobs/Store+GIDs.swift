import Downloads

/// Finds jobs by their identifiers in aria2's RPC.
extension Store {
    /// The jobs of a session whose identifier begins with these digits; at most two, because only a unique one is a name.
    ///
    /// Stored identifiers have an index. Those of jobs that were created without one are derived, so these jobs are read.
    public func jobs(withGID prefix: GIDPrefix, in session: Name) async throws(StoreError) -> [JobID] {
        let stored = try await read { db in
            try db.values(Self.storedGIDs, [session.text, prefix.text, prefix.end], as: String.self)
        }
        guard stored.isEmpty || (stored.count == 1 && prefix.gid == nil) else { return stored.map { JobID($0) } }
        let others = try await read { db in
            var found: [JobID] = []
            try db.forEach(Self.jobsWithoutGID, [session.text]) { row in
                let id = JobID(row[0])
                if prefix.matches(GID(of: id)) { found.append(id) }
                return found.count < 2
            }
            return found
        }
        return stored.map { JobID($0) } + others
    }

    static let storedGIDs = """
        SELECT id FROM jobs WHERE session = ? AND gid IS NOT NULL AND gid >= ? AND gid < ? LIMIT 2
        """
    static let jobsWithoutGID = "SELECT id FROM jobs WHERE session = ? AND gid IS NULL"
}
