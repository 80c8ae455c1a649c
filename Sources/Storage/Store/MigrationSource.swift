import Sealing

/// A database of a stopped service, whose rows another database takes. The module of its engine makes it.
public struct MigrationSource {
    /// Calls the function with the database, which does not change meanwhile.
    package let read: (_ body: (StoppedDatabase) throws -> Void) throws(StoreError) -> Void

    package init(read: @escaping ((StoppedDatabase) throws -> Void) throws(StoreError) -> Void) { self.read = read }
}

package struct StoppedDatabase {
    package let db: SQLConnection
    package let folder: DataFolder
    /// The keys of its secrets.
    package let keys: [SealingKey]

    /// The largest number that a table has ever given to a row, by the names of the tables that number their rows.
    package let lastNumbers: [String: Int64]

    package init(_ db: SQLConnection, _ folder: DataFolder, _ keys: [SealingKey], lastNumbers: [String: Int64]) {
        self.db = db
        self.folder = folder
        self.keys = keys
        self.lastNumbers = lastNumbers
    }
}
