import Formats
import Foundation
import GRDB
import Glibc
import Logging
import Storage

extension Store {
    /// Opens the store in the folder `path`. Creates the folder and the tables if they are missing.
    ///
    /// - Throws: `StoreError` when the folder is locked by a running service or cannot be written, when the database is
    ///   damaged, incomplete or from a newer version, and when it is sealed with another key. An existing database is never recreated. After
    ///   `outOfSpace` and `busy` a later call can succeed without help.
    public convenience init(
        at path: String, options: Options = Options(), time: any TimeSource = SystemTime()
    ) throws(StoreError) {
        FileErrors.install()
        try self.init(at: path, options: options, time: time) { folder, options throws(StoreError) in
            try Opening(folder, options).database
        }
    }

    /// Opens the store like `init`, on its own thread, because the check of a database can take long.
    public static func open(
        at path: String, options: Options = Options(), time: any TimeSource = SystemTime()
    ) async throws(StoreError) -> Store {
        try await ReaderThreads(count: 1).run {
            Result { () throws(StoreError) in try Store(at: path, options: options, time: time) }
        }.get()
    }

    /// The stored settings in a data folder, whether or not a service uses it. Empty if there is no database.
    public static func settings(inDataFolder path: String) throws(StoreError) -> [String: JSON] {
        let file = DataFiles(path: path).database
        guard FileManager.default.fileExists(atPath: file) else { return [:] }
        do { return try Connections.read(file, storedSettings(in:)) } catch { throw StoreError(error) }
    }
}

/// Opens the database of a folder for writing. After a crash in any step the folder can be opened again.
struct Opening {
    let database: OpenedDatabase

    init(_ folder: DataFolder, _ options: Store.Options) throws(StoreError) {
        let unlocking = try Unlocking(folder, options.key, acceptsLoss: options.acceptsLostSecrets)
        let found = try MarkFile.open(in: folder)
        if let found, found.mark.state == .restoring { try Self.completeRestore(folder, found, options.log) }
        let isUnchecked = try StartupCheck(
            folder: folder, mark: found?.mark, quickCheckLimit: options.quickCheckLimit
        ).run()
        // The mark `initialising` is created before the database. So after a crash between the two, the next start knows
        // that there was no database yet.
        let size = try folder.size(of: folder.database) ?? 0
        let isNew = found == nil && size == 0
        let initial = isNew ? try MarkFile.make(Mark(state: .initialising), in: folder) : found
        try folder.createDatabase()
        do {
            let connections = try Connections(path: folder.database, readers: options.readers)
            try connections.read(unlocking.verify)
            try UpgradeCopy(folder: folder, log: options.log).make(connections, largest: options.largestUpgradeCopy)
            try Schema.migrator.migrate(connections.pool)
            let sealer = Sealer(keys: try unlocking.keyring(connections, options.log))
            try SealingStep.complete(connections, options.log)
            // The log is copied as well: its bytes can be read, but may not be on the disk.
            try connections.checkpoint(.truncate)
            guard let history = try connections.read(History.read) else {
                throw StoreError.databaseUnreadable(path: folder.database, why: "it has no history")
            }
            let lastEvent = try connections.read { try Store.lastEvent(in: $0) }
            try folder.sync()
            let mark = Mark(
                state: .running, identity: history.identity,
                position: .init(
                    commits: history.commits, lastEvent: max(lastEvent, initial?.mark.position.lastEvent ?? 0)))
            try initial?.set(mark, in: folder)
            let file = try initial ?? MarkFile.make(mark, in: folder)
            database = OpenedDatabase(
                engine: SQLiteEngine(connections, file, in: folder, options.log), sealer: sealer, history: history,
                start: JournalPosition(lastEvent: lastEvent))
            if isUnchecked { connections.checkInBackground(options.log) }
        } catch {
            throw folder.openingError(error)
        }
    }

    private static func completeRestore(_ folder: DataFolder, _ mark: MarkFile, _ log: Logger) throws(StoreError) {
        do {
            let kept = try DatabaseReplacement(folder: folder).complete(mark, at: Date())
            log.notice(
                "A restore was interrupted, and fetchd has completed it. \(kept.map { "The former database is kept as \($0)." } ?? "")"
            )
        } catch {
            throw folder.openingError(error)
        }
    }
}

/// Checks the database of a folder before anything is changed there, and refuses a database that lacks committed data.
/// SQLite ignores a missing or damaged log, and creates an empty database if the file is missing.
struct StartupCheck {
    let folder: DataFolder
    /// nil when the folder is new.
    let mark: Mark?
    /// If the database was not closed and has at most this many bytes, it is checked here.
    let quickCheckLimit: Int64

    /// - Returns: whether the database was not closed and is too large to be checked here.
    /// - Throws: `databaseIncomplete`, `databaseDamaged`, `databaseUnreadable`, `databaseFromNewerVersion`,
    ///   `databaseFromOlderVersion`, `restoreUnfinished`. The folder is then unchanged.
    func run() throws(StoreError) -> Bool {
        switch mark?.state {
        case .restoring: throw .restoreUnfinished(path: folder.path)
        // The service has not acknowledged any request yet.
        case .initialising: return false
        case .running, .clean, nil: break
        }
        let (size, logSize) = (try folder.size(of: folder.database), try folder.size(of: folder.log))
        guard let size, size > 0 else {
            // SQLite would remove a log without a database.
            guard mark != nil || (logSize ?? 0) > 0 else { return false }
            throw .databaseIncomplete(path: folder.database, size == nil ? .missing : .emptied)
        }
        let isLarge = size + (logSize ?? 0) > quickCheckLimit
        let isUnchecked = mark?.state != .clean
        do {
            try folder.inspectDatabase {
                try inspect($0, checkingPages: isUnchecked && !isLarge, logSize: logSize ?? 0)
            }
        } catch {
            throw folder.openingError(error)
        }
        return isUnchecked && isLarge
    }

    private func inspect(_ db: Database, checkingPages: Bool, logSize: Int64) throws {
        try Schema.requireKnown(db, path: folder.database)
        // The pages come first: a damaged page may hold a wrong history.
        if checkingPages, let finding = try Self.quickCheck(db) {
            throw StoreError.databaseDamaged(path: folder.database, why: finding)
        }
        if let mark { try compare(History.read(SQLConnection(db)), with: mark, logSize: logSize) }
    }

    private func compare(_ history: History?, with mark: Mark, logSize: Int64) throws {
        guard let loss = Self.loss(of: history, comparedWith: mark, logSize: logSize) else { return }
        throw StoreError.databaseIncomplete(path: folder.database, loss)
    }

    /// What a database lacks of that which its mark records; nil if it lacks nothing.
    ///
    /// - Parameter logSize: the bytes of its write-ahead log.
    static func loss(of history: History?, comparedWith mark: Mark, logSize: Int64) -> StoreError.Loss? {
        if let history, history.identity != mark.identity { return .foreign }
        let missing = mark.position.commits - (history?.commits ?? 0)
        guard missing > 0 || history == nil else { return nil }
        return .commits(missing, mark.state == .clean ? .olderCopy : logSize == 0 ? .logMissing : .logDamaged)
    }

    /// - Returns: the first inconsistency that SQLite finds; nil when it finds none.
    static func quickCheck(_ db: Database) throws -> String? {
        do {
            let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer"
            return finding == "ok" ? nil : finding.split(separator: "\n").joined(separator: " ")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return error.message ?? "\(error)"
        }
    }
}

extension DataFolder {
    /// Reads the database without copying its log, and removes the files that SQLite creates to read it.
    func inspectDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let (hasLog, hasIndex) = (try size(of: log) != nil, try size(of: index) != nil)
        defer {
            if !hasIndex { unlink(index) }
            if !hasLog { unlink(log) }
        }
        let database = try DatabaseQueue(path: self.database, configuration: Connections.configuration())
        defer { try? database.close() }
        return try database.inDatabase(body)
    }

    /// The error for a database that could not be opened.
    func openingError(_ error: any Error) -> StoreError {
        guard let error = error as? DatabaseError else { return StoreError(error) }
        switch error.resultCode {
        case .SQLITE_FULL: return .outOfSpace
        case .SQLITE_BUSY: return .busy
        // On a full disk SQLite can't create or sync the log and the index.
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            let code = FileErrors.take(ofDatabase: database)
            if isFull || code == ENOSPC || code == EDQUOT { return .outOfSpace }
        default: break
        }
        return .databaseUnreadable(path: database, why: "\(error)")
    }
}
