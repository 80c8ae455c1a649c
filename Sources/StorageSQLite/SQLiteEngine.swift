import Base
import Downloads
import GRDB
import Logging
import Storage

/// A store in an SQLite file of the data folder.
package final class SQLiteEngine: StoreEngine {
    let connections: Connections
    private let mark: MarkFile
    private let folder: DataFolder
    private let count: CommitCount
    private let log: Logger
    /// The group commits that have changed data.
    private let groups = Locked<Int64>(0)

    init(_ connections: Connections, _ mark: MarkFile, in folder: DataFolder, _ log: Logger) {
        self.connections = connections
        self.mark = mark
        self.folder = folder
        count = CommitCount(mark)
        self.log = log
    }

    package var activity: DatabaseActivity {
        DatabaseActivity(statements: connections.statements.value, commits: count.value)
    }
    package var damage: String? { connections.damage }
    package var upkeep: EngineUpkeep { .file(rewrite: connections.rewrite) }

    package func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value { try connections.read(body) }

    package func commit(
        _ body: (CommitGroup) throws -> Void, notice: () -> CommitNotice
    ) throws(CommitFailure) -> Int64? {
        let numbers = EventNumbers()
        do {
            try connections.pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    let before = db.totalChangesCount
                    var isRefused = false
                    try body(
                        CommitGroup(SQLConnection(db), numbers) { isOnly, change in
                            guard isOnly else { return try Self.attempt(change, in: db) }
                            isRefused = !change()
                            return !isRefused
                        })
                    // After some errors, such as a full disk, SQLite has ended the transaction itself.
                    guard db.isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
                    if isRefused { return .rollback }
                    if db.totalChangesCount > before { try count.count(in: db) }
                    return .commit
                }
            }
        } catch {
            throw failure(after: error)
        }
        guard count.note(numbers.last) else { return nil }
        return groups.withLock { groups in
            groups += 1
            return groups
        }
    }

    private static func attempt(_ change: () -> Bool, in db: Database) throws -> Bool {
        var isKept = false
        try db.inSavepoint {
            isKept = change()
            return isKept ? .commit : .rollback
        }
        return isKept
    }

    package func maintain() throws { try connections.checkpointWhereDue() }

    package func probe() throws {
        if connections.needsCheckpoint { try connections.checkpoint(.passive) }
        try commitCounterOnly()
    }

    package func close() throws(StoreError) {
        do {
            try connections.close()
            try mark.set(mark.mark.closed, in: folder)
        } catch {
            throw .notClosed(path: folder.database, why: "\(error)")
        }
    }

    // MARK: Failed commits

    private func failure(after error: any Error) -> CommitFailure {
        count.discard()
        let fault = StoreError(error)
        guard case .diskFailed(let why) = fault else { return CommitFailure(error: fault, isOver: false) }
        guard replaceFailedCommit() else {
            return CommitFailure(
                error: .diskFailed(why: why + "; it is not certain that the change is not stored"), isOver: false)
        }
        log.error("\(fault). The store refused these changes and stores later ones.")
        return CommitFailure(error: .diskFailed(why: why + "; the change is not stored"), isOver: true)
    }

    /// The log may contain the whole commit whose sync failed. After a crash SQLite would find it there, although its
    /// callers got an error. A further commit overwrites it.
    private func replaceFailedCommit() -> Bool { (try? commitCounterOnly()) != nil }

    private func commitCounterOnly() throws {
        defer { count.discard() }
        try connections.pool.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                try count.count(in: db)
                return .commit
            }
        }
        count.note(nil)
    }
}

extension DatabaseError: StoreErrorConvertible {
    package var storeError: StoreError {
        switch resultCode {
        case .SQLITE_FULL: .outOfSpace
        case .SQLITE_BUSY: .busy
        // MISUSE: the connection was closed after a disk failure and could not be opened again.
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_MISUSE:
            .diskFailed(why: message ?? "\(extendedResultCode)")
        default: .failed(why: description)
        }
    }
}

/// Counts the commits that change data, in the database and in the mark beside it.
///
/// Only the writer's thread uses it, except `value`.
final class CommitCount: @unchecked Sendable {
    private let file: MarkFile
    private var position: Mark.Position
    private var isChanged = false
    private let made = Locked(0)

    /// The commits since the store was opened. Any thread may ask.
    var value: Int { made.withLock { $0 } }

    init(_ file: MarkFile) {
        self.file = file
        position = file.mark.position
    }

    /// Called inside the transaction.
    func count(in db: Database) throws {
        isChanged = true
        try db.cachedStatement(sql: "UPDATE history SET commits = ?").execute(arguments: [position.commits + 1])
    }

    /// Called when the transaction has failed.
    func discard() { isChanged = false }

    /// Called when the transaction is durable.
    ///
    /// - Returns: whether it has changed data.
    @discardableResult
    func note(_ lastEvent: EventID?) -> Bool {
        guard isChanged else { return false }
        isChanged = false
        position.commits += 1
        made.withLock { $0 += 1 }
        position.lastEvent = lastEvent ?? position.lastEvent
        file.note(position)
        return true
    }
}
