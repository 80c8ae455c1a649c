import GRDB

/// The number of a schema version: the digits before the colon in the name of its migration.
extension Schema {
    /// The schema version that this program writes.
    static var latest: Int { migrator.migrations.compactMap(number).max() ?? 0 }

    /// The schema version of a database; 0 if it is none of fetchd.
    static func number(of db: Database) throws -> Int {
        try migrator.appliedIdentifiers(db).compactMap(number).max() ?? 0
    }

    /// - Throws: `databaseFromNewerVersion`.
    /// - Parameter path: of the database, for the error.
    static func requireKnown(_ db: Database, path: String) throws {
        guard try migrator.hasBeenSuperseded(db) else { return }
        throw StoreError.databaseFromNewerVersion(path: path, schema: try number(of: db), known: latest)
    }

    /// - Parameter migration: the name of a migration, such as `14: reach of webhooks`.
    static func number(_ migration: String) -> Int? { migration.split(separator: ":").first.flatMap { Int($0) } }
}
