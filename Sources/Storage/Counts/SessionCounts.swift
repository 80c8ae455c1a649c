import Downloads

/// The kept counts of one session: a row of `session_counts`.
struct SessionCounts: Sendable, Equatable {
    var jobs = StateCounts()
    /// The number of the latest batch; 0 before the first.
    var batch = 0
    /// Of the latest batch.
    var progress = BatchProgress()

    init() {}

    init(_ row: SQLRow) {
        for (index, state) in JobState.Name.allCases.enumerated() { jobs[state] = row[index] }
        let first = JobState.Name.allCases.count
        batch = row[first]
        progress = BatchProgress(
            unsized: row[first + 1], sized: row[first + 2], bytesReceived: row[first + 3], bytesExpected: row[first + 4]
        )
    }

    /// The columns in the order in which `init(_:)` reads them.
    static let columns = (states + ["batch", "unsized", "sized", "received", "expected"]).joined(separator: ", ")
    private static let states = JobState.Name.allCases.map(\.rawValue)

    static func read(_ session: String, in db: SQLConnection) throws -> SessionCounts {
        try db.row(kept, [session]).map(SessionCounts.init)
            ?? SessionCounts()
    }

    /// The kept counts of all sessions.
    static func readAll(in db: SQLConnection) throws -> [Name: SessionCounts] {
        try all(in: db, from: "session_counts")
    }

    /// Counts the jobs of all sessions one by one.
    static func recountAll(in db: SQLConnection) throws -> [Name: SessionCounts] {
        try all(in: db, from: "(\(Schema.countedSessions)) AS counted")
    }

    private static func all(in db: SQLConnection, from table: String) throws -> [Name: SessionCounts] {
        let rows = try db.rows("SELECT \(columns), session FROM \(table)")
        return Dictionary(uniqueKeysWithValues: rows.map { (Name(trusted: $0["session"]), SessionCounts($0)) })
    }

    /// The jobs of all sessions, and the number of sessions.
    static func total(in db: SQLConnection) throws -> (jobs: StateCounts, sessions: Int) {
        guard let row = try db.row(sums) else { return (StateCounts(), 0) }
        return (SessionCounts(row).jobs, row["sessions"])
    }

    private static let sums = """
        SELECT \(states.map { "coalesce(sum(\($0)), 0)" }.joined(separator: ", ")), 0, 0, 0, 0, 0, count(*) AS sessions
        FROM session_counts
        """
    private static let kept = "SELECT \(columns) FROM session_counts WHERE session = ?"
}
