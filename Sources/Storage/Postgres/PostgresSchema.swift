import PostgresClient

/// The tables of a PostgreSQL database. A new database gets the tables of version 18, and then those of the later versions; a new version adds a step
/// here and a migration in `Schema`, with the same number. A node of the version before must be able to use the tables of
/// a new version, so a step adds columns with defaults, and a later version removes what is not used any more.
///
/// The tables are those of SQLite: booleans are 0 and 1, times are milliseconds since 1970 (UTC). Texts are compared by
/// their bytes (`COLLATE "C"`), as in SQLite, so identifiers are in the order in which they were given.
enum PostgresSchema {
    /// The statements of each version, oldest first.
    private static let steps: [(version: Int, script: String)] = [
        (18, sessions + journal + jobs + jobIndexes + parts + webhooks + service + callers + firstRows),
        (19, nodes),
        (20, version20 + acknowledgements + journalGaps + nodePlaces),
    ]

    /// The schema version that this program writes.
    static var latest: Int { steps.map(\.version).max() ?? 0 }

    /// Creates the missing tables. Nodes that start at the same time do it one after another.
    ///
    /// - Throws: `StoreError.databaseFromNewerVersion`, `PostgresError`.
    /// - Parameter name: of the database, for the error.
    static func migrate(_ connection: PostgresConnection, name: String) throws {
        try connection.transaction { transaction in
            let missing = try missing(in: &transaction, name: name)
            if !missing.isEmpty { try transaction.commit(with: missing) }
        }
    }

    /// The statements that create the missing tables. No other node creates them before the transaction ends.
    ///
    /// - Throws: as `migrate`.
    static func missing(in transaction: inout PostgresTransaction, name: String) throws -> [PostgresStatement] {
        let found = try transaction.execute([lock, versions, newest])[2]
        let version = try found[0].value(0, as: Int.self)
        guard version <= latest else {
            throw StoreError.databaseFromNewerVersion(path: name, schema: version, known: latest)
        }
        return steps.filter { $0.version > version }.flatMap(statements)
    }

    /// A number that only this program locks.
    private static let lock = PostgresStatement("SELECT pg_advisory_xact_lock(7366736463444231)", isPrepared: false)
    private static let versions = PostgresStatement(
        "CREATE TABLE IF NOT EXISTS schema_versions (version bigint NOT NULL PRIMARY KEY)", isPrepared: false)
    private static let newest = PostgresStatement(
        "SELECT coalesce(max(version), 0) FROM schema_versions", isPrepared: false)

    /// No text of the scripts contains a semicolon.
    private static func statements(of step: (version: Int, script: String)) -> [PostgresStatement] {
        let texts = step.script.split(separator: ";").filter { $0.contains { !$0.isWhitespace } }
        let record = "INSERT INTO schema_versions (version) VALUES (\(step.version))"
        return (texts.map(String.init) + [record]).map { PostgresStatement($0, isPrepared: false) }
    }
}
