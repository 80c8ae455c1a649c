import Downloads

/// The connections of running jobs besides the first one of each, on all nodes.
extension Transaction {
    func additionalConnections() throws -> [AdmissionLimits.Taken] {
        try rows("SELECT session, host, sum(count) AS n FROM additional_connections GROUP BY session, host").map {
            row in
            AdmissionLimits.Taken(session: Name(trusted: row["session"]), host: row["host"], count: row["n"])
        }
    }
}
