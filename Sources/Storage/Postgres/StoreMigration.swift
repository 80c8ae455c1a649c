import Downloads
import GRDB
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

/// The SQLite database of a stopped service, which is taken to PostgreSQL.
struct MigrationSource {
    let tables: [CopiedTable]
    let lastEvent: EventID
    /// See `NodeFile`.
    let nodeID: String
    let db: Database

    /// - Parameter keyName: names where the key comes from, for errors.
    /// - Throws: `databaseUnreadable` if the next start would change the database first; `keyWrong` and `keyUnusable` if its
    ///   secrets cannot be opened with the key.
    init(_ db: SQLConnection, _ folder: DataFolder, _ key: KeyInspection, keyName: String) throws {
        self.db = db.sqlite
        guard try Schema.number(of: db.sqlite) == Schema.latest else {
            throw StoreError.databaseUnreadable(
                path: folder.database, why: "it is of an earlier version. Start and stop the service once")
        }
        guard try SealingStep.read(db) == .done else {
            throw StoreError.databaseUnreadable(
                path: folder.database,
                why: "its file has copies of secrets that a former key opens. Start and stop the service once")
        }
        try Self.require(try key.finding(db), folder, keyName)
        tables = try CopiedTable.all(in: db.sqlite)
        lastEvent = try Store.lastEvent(in: db)
        nodeID = try NodeFile.identifier(in: folder)
    }

    private static func require(
        _ finding: DatabaseInspection.KeyFinding, _ folder: DataFolder, _ keyName: String
    ) throws(StoreError) {
        switch finding {
        case .fits, .notYetUsed: break
        case .wrong: throw .keyWrong(source: keyName, path: folder.database)
        case .unusable(let why): throw .keyUnusable(why: why)
        case .missing:
            throw .keyUnusable(
                why:
                    "The secrets in \(folder.database) are encrypted with a key, and \(keyName) is missing. Put it back, or name the key with --key-file. If the key is lost, start and stop the service once with --accept-lost-secrets: it continues without these secrets."
            )
        }
    }
}
