import Downloads
import Storage

/// Takes the database of a stopped service to an empty PostgreSQL database.
///
/// Secrets are copied as they are, so the service needs the same key afterwards. The source is only read.
public enum StoreMigration {
    /// Copies all rows in one transaction, which also compares them. After an error, PostgreSQL has nothing of them.
    ///
    /// - Parameters:
    ///   - url: of the PostgreSQL database.
    ///   - acceptsUnsafeServer: see `Store.Options`.
    ///   - onTable: is called with the name of each table before it is copied.
    /// - Throws: `folderInUse` while a service runs; `serverUnsuitable` if the PostgreSQL database has data; `databaseInUse` if
    ///   a service uses it; `databaseUnreadable`, `keyWrong`, `keyUnusable`; `databaseAway`; as `Store.init` for a database
    ///   that cannot be opened.
    public static func run(
        from source: MigrationSource, to url: String, acceptsUnsafeServer: Bool = false,
        onTable: (String) -> Void = { _ in }
    ) throws(StoreError) -> MigrationReport {
        var report = MigrationReport(lastEvent: 0)
        try source.read { stopped in
            do {
                let target = try MigrationTarget(url, stopped.keys, requiresDurability: !acceptsUnsafeServer)
                report = try target.receive(stopped, onTable)
            } catch {
                throw StoreError(error)
            }
        }
        return report
    }
}

/// What was taken to another database.
public struct MigrationReport: Sendable, Equatable {
    public struct Table: Sendable, Equatable {
        public var name: String
        public var rows: Int
        /// The rows of which all columns were read back and compared.
        public var comparedRows: Int
    }

    public var tables: [Table] = []
    /// New events have larger numbers.
    public var lastEvent: EventID
}
