import Logging
import Sealing

/// Finds the key of a store when it is opened.
///
/// - A given key that fits the check value is used; one that does not fit is refused.
/// - Without a check value, the given key becomes the key of the store.
/// - If the data folder has no key file, but the store has a check value, the key is lost: a copy of the database was
///   restored without it. The store gives the lost key up and gets a new one.
struct Unlocking {
    private let folder: DataFolder
    private let source: KeySource
    /// The name of the database, for errors.
    private let database: String
    /// Whether the database is beside the key, so that a missing key is lost.
    private let isInFolder: Bool
    /// nil if the data folder has no key file.
    private let given: [SealingKey]?

    /// Reads the keys, before anything is changed.
    ///
    /// - Throws: `keyUnusable`.
    /// - Parameter database: its name for errors; nil: the file of the folder.
    init(_ folder: DataFolder, _ source: KeySource, database: String? = nil) throws(StoreError) {
        self.folder = folder
        self.source = source
        self.database = database ?? folder.database
        isInFolder = database == nil
        do { given = try source.keys(inDataFolder: folder.path) } catch { throw .keyUnusable(why: error.description) }
    }

    /// - Throws: `keyWrong`; `keyUnusable` if the key is missing, but not lost: another service may have it.
    func verify(_ db: SQLConnection) throws {
        guard let check = try KeyCheck(db) else { return }
        guard let given else {
            guard !isInFolder else { return }
            throw StoreError.keyUnusable(
                why:
                    "The secrets in \(database) are sealed with a key, and \(folder.path) has none. Copy fetchd.key from the service that has used this database, or name the key with --key-file."
            )
        }
        guard given.contains(where: check.fits) else {
            throw StoreError.keyWrong(
                source: source.description(inDataFolder: folder.path), path: database)
        }
    }

    /// Returns the keys, after the migrations. A new key is durable before anything is sealed with it.
    ///
    /// - Throws: as `verify`, if another service has given the database a key since that call.
    func keyring(_ database: any StoreDatabase, _ log: Logger) throws -> Keyring {
        let check = try database.read(KeyCheck.init)
        if let given, let check, let current = given.first(where: check.fits) {
            return Keyring(current: current, others: given)
        }
        guard isInFolder else { return try sharedKeyring(database) }
        if given == nil, check != nil {
            // Before the key file exists: the next start would refuse a new key with the old check value.
            try database.change(KeyCheck.remove)
            log.warning(
                "The key file \(KeySource.file(inDataFolder: folder.path).path) is missing, but secrets in the database are sealed with its key. fetchd makes a new key. Jobs that need these secrets wait for credentials, and webhooks that need them are disabled."
            )
        }
        let keys = try given ?? [makeKey()]
        try database.change { try KeyCheck.write(keys[0], in: $0) }
        return Keyring(current: keys[0], others: keys)
    }

    /// Several services can open the database at the same time. The change has the lock of the journal, so one of them gives the
    /// database its key, and the others compare theirs with it.
    private func sharedKeyring(_ database: any StoreDatabase) throws -> Keyring {
        var keys = given ?? []
        var check: KeyCheck?
        try database.change { db in
            try verify(db)
            check = try KeyCheck(db)
            guard check == nil else { return }
            // The change may be made again, and the key file exists then.
            if keys.isEmpty { keys = [try makeKey()] }
            try KeyCheck.write(keys[0], in: db)
        }
        let current = check.flatMap { check in keys.first(where: check.fits) } ?? keys[0]
        return Keyring(current: current, others: keys)
    }

    private func makeKey() throws(StoreError) -> SealingKey {
        let key = SealingKey.random()
        do {
            try KeySource.file(inDataFolder: folder.path).write([key])
        } catch {
            throw folder.isFull ? .outOfSpace : .keyUnusable(why: error.description)
        }
        return key
    }
}
