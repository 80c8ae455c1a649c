import Downloads

/// What the database knows of the locations: the folders that they have had, and the jobs that wait for them.
extension Store {
    /// Notes that a location has this folder. If the folder is empty at a later start, its disk is missing.
    public func noteFolder(_ path: String, of location: Name) async throws {
        try await writer.write { transaction in
            try transaction.run(
                "INSERT INTO locations (name, folder, opened_at) VALUES (?, ?, ?) ON CONFLICT (name, folder) DO NOTHING",
                [location.text, path, transaction.now.milliseconds])
        }
    }

    /// Whether the location had this folder at an earlier start.
    public func hasFolder(_ path: String, of location: Name) async throws(StoreError) -> Bool {
        try await read { db in
            try db.row("SELECT 1 FROM locations WHERE name = ? AND folder = ?", [location.text, path]) != nil
        }
    }

    /// The number of jobs that wait for the disk of each location, also of locations that are not declared.
    ///
    /// - Parameter visible: only the jobs of these sessions count.
    public func jobsWaitingForLocations(visible: VisibleSessions = .all) async throws(StoreError) -> [Name: Int] {
        try await read { db in
            try db.map(Self.waitingJobs, []) { row in
                (Name(trusted: try row["session"]), Name(trusted: try row["wait_location"]), try row["jobs"] as Int)
            }.reduce(into: [:]) { counts, row in
                if visible.contain(row.0) { counts[row.1, default: 0] += row.2 }
            }
        }
    }

    package static let waitingJobs = """
        SELECT session, wait_location, count(*) AS jobs FROM jobs INDEXED BY jobs_waiting_for_location
        WHERE wait_location IS NOT NULL AND reason IN ('space', 'storage') GROUP BY session, wait_location
        """
}
