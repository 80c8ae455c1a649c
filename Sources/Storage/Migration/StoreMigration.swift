import Glibc
import Sealing

/// Takes the SQLite database of a stopped service to an empty PostgreSQL database.
///
/// Secrets are copied as they are, so the service needs the same key afterwards. The SQLite database is only read.
public struct StoreMigration {
    private let path: String
    private let key: KeySource
    private let server: ServerAddress
    private let acceptsUnsafeServer: Bool
    private let onTable: (String) -> Void

    /// - Parameters:
    ///   - folder: the data folder.
    ///   - key: where the key of the service comes from.
    ///   - acceptsUnsafeServer: see `Store.Options`.
    ///   - onTable: is called with the name of each table before it is copied.
    public init(
        fromDataFolder folder: String, key: KeySource, to server: ServerAddress, acceptsUnsafeServer: Bool = false,
        onTable: @escaping (String) -> Void = { _ in }
    ) {
        path = folder
        self.key = key
        self.server = server
        self.acceptsUnsafeServer = acceptsUnsafeServer
        self.onTable = onTable
    }

    /// Copies all rows in one transaction, which also compares them. After an error, PostgreSQL has nothing of them.
    ///
    /// - Throws: `folderInUse` while a service runs; `serverUnsuitable` if the PostgreSQL database has data; `databaseInUse` if
    ///   a service uses it; `databaseUnreadable`, `keyWrong`, `keyUnusable`; `databaseAway`; as `Store.init` for a database
    ///   that cannot be opened.
    public func run() throws(StoreError) -> MigrationReport {
        let database = DataFiles(path: path).database
        // Before the lock, which would create the folder.
        guard access(database, F_OK) == 0 else { throw .databaseUnreadable(path: database, why: "it does not exist") }
        let folder = try DataFolder(at: path)
        defer { folder.release() }
        _ = try StartupCheck(folder: folder, mark: try MarkFile.read(folder.mark), quickCheckLimit: .max).run()
        let key = KeyInspection(key, path)
        return try folder.files.read { db in
            let source = try MigrationSource(db, folder, key, keyName: self.key.description(inDataFolder: path))
            do {
                let target = try MigrationTarget(server, key.given, requiresDurability: !acceptsUnsafeServer)
                return try target.receive(source, onTable)
            } catch {
                throw StoreError(error)
            }
        }
    }
}
