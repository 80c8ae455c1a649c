import Foundation
import Logging
import Sealing

/// Finds the key of a store when it is opened.
///
/// - A given key that fits the check value is used; one that does not fit is refused, and so is a store with sealed values and
///   no key.
/// - Without a check value, the given key becomes the key of the store, or a new one.
/// - If the administrator accepts the loss of the secrets, the store takes the given key, or a new one. Sealed values stay: a
///   lost key that is added to the key file later opens them.
package struct Unlocking {
    private let folder: DataFolder
    private let source: KeySource
    /// The name of the database, for errors.
    private let database: String
    private let isShared: Bool
    /// Whether some of them use it now.
    private let isInUse: (SQLConnection) throws -> Bool
    private let acceptsLoss: Bool
    /// nil if the data folder has no key file.
    private let given: [SealingKey]?

    /// Reads the keys, before anything is changed.
    ///
    /// - Throws: `keyUnusable`.
    /// - Parameters:
    ///   - database: the name of a database that several services share, for errors; nil: the file of the folder.
    ///   - acceptsLoss: see `Store.Options.acceptsLostSecrets`.
    ///   - isInUse: whether other services use the database now.
    package init(
        _ folder: DataFolder, _ source: KeySource, database: String? = nil, acceptsLoss: Bool = false,
        isInUse: @escaping (SQLConnection) throws -> Bool = { _ in false }
    ) throws(StoreError) {
        self.folder = folder
        self.source = source
        self.isInUse = isInUse
        self.acceptsLoss = acceptsLoss
        self.database = database ?? folder.database
        isShared = database != nil
        do { given = try source.keys(inDataFolder: folder.path) } catch { throw .keyUnusable(why: error.description) }
    }

    private var file: String { KeySource.file(inDataFolder: folder.path).path }

    /// - Throws: `keyWrong`; `keyUnusable` if the key is missing.
    package func verify(_ db: SQLConnection) throws {
        guard let check = try KeyCheck(db) else { return }
        if let given, given.contains(where: check.fits) { return }
        guard !acceptsLoss else { return try requireNoOthers(db) }
        guard given == nil else {
            throw StoreError.keyWrong(source: source.description(inDataFolder: folder.path), path: database)
        }
        let lost = try LostSecrets(db)
        // Another service of the database may seal values with the key at any time.
        guard isShared || !lost.isEmpty else { return }
        throw StoreError.keyUnusable(why: lost.refusal(ofDatabase: database, without: file))
    }

    /// A service that runs has the key, so the key is not lost.
    private func requireNoOthers(_ db: SQLConnection) throws {
        guard try isInUse(db) else { return }
        throw StoreError.keyUnusable(
            why:
                "Other services use \(database) now, and have its key. Copy the key from one of them (fetchd.key in its data folder, or its --key-file), and start without --accept-lost-secrets."
        )
    }

    /// Returns the keys, after the migrations. A new key is durable before anything is sealed with it.
    ///
    /// - Throws: as `verify`, if another service has given the database a key since that call.
    package func keyring(_ database: any StoreDatabase, _ log: Logger) throws -> Keyring {
        let check = try database.read(KeyCheck.init)
        if let given, let check, let current = given.first(where: check.fits) {
            return Keyring(current: current, others: given)
        }
        guard !isShared else { return try sharedKeyring(database, log) }
        if check != nil {
            let lost = try database.read(LostSecrets.init)
            // Before the key file exists: the next start would refuse a new key with the old check value.
            try database.change(KeyCheck.remove)
            report(lost, log)
        }
        let keys = try given ?? [makeKey()]
        try database.change { try KeyCheck.write(keys[0], in: $0) }
        return Keyring(current: keys[0], others: keys)
    }

    private func report(_ lost: LostSecrets, _ log: Logger) {
        guard !lost.isEmpty else { return }
        let new =
            given == nil
            ? "fetchd makes a new key, \(file)" : "\(source.description(inDataFolder: folder.path)) is used"
        log.warning(
            "The key of \(database) is lost, and with it the secrets of \(lost.listed). From now on, \(new). \(LostSecrets.consequence) If the lost key is found, add it to the key file as a further line: fetchd then reads these secrets again. Remove --accept-lost-secrets now."
        )
    }

    /// Several services can open the database at the same time. The change has the lock of the journal, so one of them
    /// gives the database its key, and the others compare theirs with it.
    private func sharedKeyring(_ database: any StoreDatabase, _ log: Logger) throws -> Keyring {
        var keys = given ?? []
        var check: KeyCheck?
        var lost: LostSecrets?
        try database.change { db in
            try verify(db)
            check = try KeyCheck(db)
            if let check, keys.contains(where: check.fits) { return }
            lost = check == nil ? nil : try LostSecrets(db)
            check = nil
            // The change may be made again, and the key file exists then.
            if keys.isEmpty { keys = [try makeKey()] }
            try KeyCheck.write(keys[0], in: db)
        }
        if let lost { report(lost, log) }
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

/// The check value of the store's key: a text that is sealed with it.
package struct KeyCheck {
    private let sealed: String

    private static let place = SealContext(table: "sealing", column: "key_check", row: "1")

    /// - Parameter sealed: the column `sealing.key_check`.
    package init(sealed: String) { self.sealed = sealed }

    /// nil if the store has no key: it is new, or its key was given up.
    package init?(_ db: SQLConnection) throws {
        guard try db.hasTable("sealing"),
            let sealed = try db.value("SELECT key_check FROM sealing", as: String.self)
        else { return nil }
        self.sealed = sealed
    }

    package func fits(_ key: SealingKey) -> Bool {
        if case .text = Keyring(current: key).open(sealed, at: Self.place) { true } else { false }
    }

    /// Makes this key the key of the store.
    package static func write(_ key: SealingKey, in db: SQLConnection) throws {
        try db.run("UPDATE sealing SET key_check = ?", [Keyring(current: key).seal("fetchd", at: place)])
    }

    /// Gives up the key. The values that it has sealed stay, and cannot be read.
    package static func remove(in db: SQLConnection) throws { try db.run("UPDATE sealing SET key_check = NULL") }
}

/// How many rows of each kind have sealed values. Without the key, these values are lost.
public struct LostSecrets: Sendable, Equatable {
    private let counts: [String: Int]

    /// Reads the texts of whole tables, so only a start without the right key does it.
    package init(_ db: SQLConnection) throws {
        let tables = Dictionary(grouping: SecretColumn.all, by: \.table)
        counts = try tables.mapValues { columns in
            let conditions = columns.map { $0.isBytes ? Self.isSealedAnswer : "\($0.name) LIKE ?1" }
            let mark: any SQLValue = columns.contains(where: \.isBytes) ? Data([UInt8(ascii: "\n")]) : "%\n"
            let count = "SELECT count(*) FROM \(columns[0].table) WHERE \(conditions.joined(separator: " OR "))"
            return try db.value(count, [mark]) ?? 0
        }
    }

    private static let isSealedAnswer = "substr(answer, length(answer), 1) = ?1"

    public var isEmpty: Bool { counts.values.allSatisfy { $0 == 0 } }

    /// For sentences: `3 jobs, 1 session and 2 webhooks`.
    var listed: String {
        let kinds = [
            ("jobs", "job"), ("sessions", "session"), ("webhooks", "webhook"), ("webhook_keys", "key of webhooks"),
            ("parts", "part of a job"),
            ("idempotency_keys", "answer to a repeated request"),
        ]
        let texts = kinds.compactMap { table, name -> String? in
            guard let count = counts[table], count > 0 else { return nil }
            return count == 1 ? "1 \(name)" : "\(count) \(Self.plural[table] ?? "\(name)s")"
        }
        return texts.count < 2
            ? texts.joined() : texts.dropLast().joined(separator: ", ") + " and " + texts[texts.count - 1]
    }

    private static let plural = ["parts": "parts of jobs", "idempotency_keys": "answers to repeated requests"]

    /// What happens to the rows, as a sentence.
    package static let consequence =
        "Jobs that need these secrets then wait for credentials, and webhooks that need them are disabled."

    /// Why a start without the key is refused, and what to do.
    public func refusal(ofDatabase database: String, without file: String) -> String {
        "The secrets \(isEmpty ? "" : "of \(listed) ")in \(database) are sealed with a key, and the key file \(file) is missing. Put the key back: copy it from where this database was used, or name the key with --key-file. If the key is lost, start fetchd once with --accept-lost-secrets. \(Self.consequence)"
    }
}

extension Store {
    /// A key for a purpose outside the database, such as the codes of cookies. It is the same after a restart, and changes with
    /// the key of the secrets.
    public func key(for purpose: String) -> [UInt8] { sealer.keys.current.derived(for: purpose) }
}
