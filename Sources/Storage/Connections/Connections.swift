import CSQLite
import GRDB
import Glibc
import Locks
import Logging

/// The connections to the database file: one that writes and checkpoints, and read-only ones.
///
/// SQLite copies the log into the file at its own moments, and ignores the errors of it. Here every checkpoint is asked
/// for, and none follows from closing a connection. A checkpoint that failed is the reason: what Linux could not write it
/// forgets (docs/operations.md, "Failing disks"), also pages of an earlier checkpoint that a reader had stopped half-way. SQLite
/// would not copy those again. It does after all connections were closed and opened again, as the count of copied pages
/// is not on disk.
final class Connections: Sendable {
    /// Pages of the log, 4 KiB each, after which it is copied: those that change all the time are copied less often than
    /// with SQLite's 1,000.
    static let pagesBetweenCheckpoints = 4096

    private let path: String
    private let readers: Int
    private let current: Locked<DatabasePool>
    private let state = Locked(State())
    private let backgroundCheck = Locked<BackgroundCheck?>(nil)

    private struct State {
        /// Pages that went to the log since the last checkpoint.
        var pages = 0
        /// A checkpoint has failed, and none has succeeded since.
        var needsCheckpoint = false
        /// A checkpoint has failed, and the connections are the same as then: they may read lost pages.
        var mayHaveLostPages = false
    }

    /// Opens the database, making the file where it is missing.
    init(path: String, readers: Int) throws {
        self.path = path
        self.readers = readers
        current = Locked(try Self.open(path, readers: readers))
    }

    /// Not to be kept: it is another one after a checkpoint that failed.
    var pool: DatabasePool { current.withLock { $0 } }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let pool = pool
        do {
            return try pool.read(body)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
            // Closed meanwhile.
            let next = self.pool
            guard next !== pool else { throw error }
            return try next.read(body)
        }
    }

    /// Copies the log into the database file where it has grown enough for that, unless the last time failed.
    ///
    /// - Throws: as `checkpoint(_:)`.
    func checkpointWhereDue() throws {
        let written = pool.writeWithoutTransaction { db in
            db.sqliteConnection.map { Int(sqlite_take_pages_written($0)) } ?? 0
        }
        let isDue = state.withLock { state in
            state.pages += written
            return state.pages >= Self.pagesBetweenCheckpoints && !state.needsCheckpoint
        }
        if isDue { try checkpoint(.passive) }
    }

    /// A checkpoint has failed, and none has succeeded since.
    var needsCheckpoint: Bool { state.withLock { $0.needsCheckpoint } }

    /// Copies the log into the database file, and syncs that.
    ///
    /// - Throws: when it could not be copied or synced. Nothing is lost then: the log has it, and the next checkpoint copies
    ///   all of it.
    func checkpoint(_ mode: Database.CheckpointMode) throws {
        if state.withLock({ $0.mayHaveLostPages }) { try reopen() }
        do {
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(mode) }
            state.withLock { ($0.pages, $0.needsCheckpoint) = (0, false) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Others read, or another process copies: the next time will do.
            if mode == .truncate { throw error }
        } catch {
            // At once, before anything is read for another change: SQLite takes pages that it believes to be copied from
            // the file.
            state.withLock { ($0.mayHaveLostPages, $0.needsCheckpoint) = (true, true) }
            try? reopen()
            throw error
        }
    }

    /// Has the database read through.
    func checkInBackground(_ log: Logger) {
        do {
            let backgroundCheck = try BackgroundCheck(path: path, log: log)
            self.backgroundCheck.withLock { $0 = backgroundCheck }
        } catch {
            log.warning("The database cannot be checked: \(error)")
        }
    }

    /// What a check has found; nil when nothing is wrong, as far as it has come.
    var damage: String? { backgroundCheck.withLock { $0?.finding } }

    /// Copies everything into the one file that is left then, and closes.
    ///
    /// - Throws: when it could not be copied. The connections are closed nevertheless, and the log is kept.
    func close() throws {
        backgroundCheck.withLock { $0?.stop() }
        // The readers first: only the last connection can remove the log.
        pool.releaseMemory()
        let outcome = Result { try checkpoint(.truncate) }
        if case .success = outcome {
            // Nothing is left to be copied: the close only removes the empty log.
            self.pool.writeWithoutTransaction { sqlite_keep_log_at_close($0.sqliteConnection!, 0) }
        }
        try self.pool.close()
        try outcome.get()
    }

    /// Readers that come meanwhile wait.
    private func reopen() throws {
        backgroundCheck.withLock { $0?.stop() }
        try current.withLock { pool in
            try pool.close()
            guard !isHeldByOthers else { throw DatabaseError(resultCode: .SQLITE_IOERR, message: Self.held) }
            pool = try Self.open(path, readers: readers)
        }
        state.withLock { $0.mayHaveLostPages = false }
    }

    private static let held = "after a failed sync no other process may have the database open, and one has"

    /// Whether another process is connected: the count of copied pages would outlive our connections. To be asked only
    /// while there are none: to close any descriptor of the file gives up all its locks.
    private var isHeldByOthers: Bool {
        let index = Glibc.open(path + "-shm", O_RDWR | O_CLOEXEC)
        guard index >= 0 else { return false }
        defer { Glibc.close(index) }
        // The byte that every connection has locked for reading ("dead man's switch" in SQLite's os_unix.c).
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 128
        lock.l_len = 1
        return fcntl(index, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    private static func open(_ path: String, readers: Int) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration(readers: readers))
        // GRDB sets NORMAL for pools, which syncs no commit.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    /// Of a connection that no checkpoint follows from.
    static func configuration(readers: Int = 1) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = readers
        configuration.foreignKeysEnabled = true
        // Another process may look at the file with `sqlite3`.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            sqlite_keep_log_at_close(db.sqliteConnection!, 1)
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY")
        }
        return configuration
    }
}
