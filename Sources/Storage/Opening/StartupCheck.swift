import GRDB
import Glibc

/// Looks at the database of a folder before anything is changed there, and refuses it where something that was committed
/// is not in it. SQLite itself ignores a log that is missing or damaged, and begins an empty database where there is none.
struct StartupCheck {
    let folder: DataFolder
    /// nil: the folder is new, or of a version that wrote no mark.
    let mark: Mark?
    /// Bytes up to which a database that was not closed is read through before it is used.
    let quickCheckLimit: Int64

    /// - Returns: whether the database was not closed, and is too large to be read through here.
    /// - Throws: `databaseIncomplete`, `databaseDamaged`, `databaseUnreadable`, `databaseFromNewerVersion`,
    ///   `restoreUnfinished`; nothing has changed then.
    func run() throws(StoreError) -> Bool {
        switch mark?.state {
        case .restoring: throw .restoreUnfinished(path: folder.path)
        // Nothing was ever acknowledged.
        case .initialising: return false
        case .running, .clean, nil: break
        }
        let (size, logSize) = (try folder.size(of: folder.database), try folder.size(of: folder.log))
        guard let size, size > 0 else {
            // SQLite would remove a log that has no database.
            guard mark != nil || (logSize ?? 0) > 0 else { return false }
            throw .databaseIncomplete(path: folder.database, size == nil ? .missing : .emptied)
        }
        let isLarge = size + (logSize ?? 0) > quickCheckLimit
        let isUnchecked = mark?.state != .clean
        do {
            try folder.inspectDatabase { database in
                try database.inDatabase {
                    try inspect($0, checkingPages: isUnchecked && !isLarge, logSize: logSize ?? 0)
                }
            }
        } catch {
            throw folder.openingError(error)
        }
        return isUnchecked && isLarge
    }

    private func inspect(_ db: Database, checkingPages: Bool, logSize: Int64) throws {
        if try Schema.migrator.hasBeenSuperseded(db) {
            throw StoreError.databaseFromNewerVersion(path: folder.database)
        }
        // First the pages: what a damaged one says of the history is worth nothing.
        if checkingPages, let finding = try Self.quickCheck(db) {
            throw StoreError.databaseDamaged(path: folder.database, why: finding)
        }
        if let mark { try compare(History.read(db), with: mark, logSize: logSize) }
    }

    private func compare(_ history: History?, with mark: Mark, logSize: Int64) throws {
        let loss: StoreError.Loss
        if let history, history.identity != mark.identity {
            loss = .foreign
        } else {
            let missing = mark.position.commits - (history?.commits ?? 0)
            guard missing > 0 || history == nil else { return }
            loss = .commits(missing, mark.state == .clean ? .olderCopy : logSize == 0 ? .logMissing : .logDamaged)
        }
        throw StoreError.databaseIncomplete(path: folder.database, loss)
    }

    /// - Returns: the first fault that SQLite finds in the structure of the database; nil when there is none.
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
    /// Reads the database without copying its log, and leaves nothing behind of what SQLite makes in order to read.
    func inspectDatabase<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
        let (hasLog, hasIndex) = (try size(of: log) != nil, try size(of: index) != nil)
        defer {
            if !hasIndex { unlink(index) }
            if !hasLog { unlink(log) }
        }
        let database = try DatabaseQueue(path: self.database, configuration: Connections.configuration())
        defer { try? database.close() }
        return try body(database)
    }

    /// Why the database could not be opened.
    func openingError(_ error: any Error) -> StoreError {
        guard let error = error as? DatabaseError else { return StoreError(error) }
        switch error.resultCode {
        case .SQLITE_FULL: return .outOfSpace
        case .SQLITE_BUSY: return .busy
        // The log and the index cannot be made, or synced, on a full disk.
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            let code = FileErrors.take(ofDatabase: database)
            if isFull || code == ENOSPC || code == EDQUOT { return .outOfSpace }
        default: break
        }
        return .databaseUnreadable(path: database, why: "\(error)")
    }
}
