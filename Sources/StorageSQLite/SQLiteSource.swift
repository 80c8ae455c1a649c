import Glibc
import Sealing
import Storage

extension MigrationSource {
    /// The SQLite database of a stopped service.
    ///
    /// - Parameter key: where the key of the service comes from.
    public static func sqlite(inDataFolder path: String, key: KeySource) -> MigrationSource {
        MigrationSource { body throws(StoreError) in
            let database = DataFiles(path: path).database
            // Before the lock, which would create the folder.
            guard access(database, F_OK) == 0 else {
                throw .databaseUnreadable(path: database, why: "it does not exist")
            }
            let folder = try DataFolder(at: path)
            defer { folder.release() }
            _ = try StartupCheck(folder: folder, mark: try MarkFile.read(folder.mark), quickCheckLimit: .max).run()
            let keys = KeyInspection(key, path)
            try folder.files.read { db in
                try require(db, folder, keys, keyName: key.description(inDataFolder: path))
                let numbers = try db.map("SELECT name, seq FROM sqlite_sequence") { row in
                    (try row[0] as String, try row[1] as Int64)
                }
                try body(StoppedDatabase(db, folder, keys.given, lastNumbers: Dictionary(numbers) { $1 }))
            }
        }
    }

    /// - Parameter keyName: names where the key comes from, for errors.
    /// - Throws: `databaseUnreadable` if the next start would change the database first; `keyWrong` and `keyUnusable` if its
    ///   secrets cannot be opened with the key.
    private static func require(
        _ db: SQLConnection, _ folder: DataFolder, _ keys: KeyInspection, keyName: String
    ) throws {
        guard try Schema.number(of: db.sqlite) == Schema.latest else {
            throw StoreError.databaseUnreadable(
                path: folder.database, why: "it is of an earlier version. Start and stop the service once")
        }
        guard try SealingStep.read(db) == .done else {
            throw StoreError.databaseUnreadable(
                path: folder.database,
                why: "its file has copies of secrets that a former key opens. Start and stop the service once")
        }
        try require(try keys.finding(db), folder, keyName)
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
