/// The work of the database since the store was opened.
public struct DatabaseActivity: Sendable, Equatable {
    /// SQL statements of all connections. Each run of a trigger counts as one more.
    public var statements: Int
    /// Group commits that changed data. Each one syncs the log.
    public var commits: Int
}
