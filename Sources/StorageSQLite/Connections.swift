import Base
import CSQLite
import Dispatch
import GRDB
import Glibc
import Logging
import Storage

/// The connections to the database file: one connection that writes and checkpoints, and read-only ones.
///
/// By itself, SQLite copies the log into the file at times of its choice, and ignores errors of these checkpoints. Here
/// the writer requests every checkpoint, and closing a connection makes none. The reason is a failed checkpoint: Linux
/// drops the pages that it could not write (docs/operations.md, "Failing disks"), also pages of an earlier checkpoint
/// that a reader had interrupted. SQLite would not copy these pages again. It copies them after all connections were
/// closed and opened again, because the number of copied pages is not on the disk.
package final class Connections: StoreDatabase, Sendable {
    /// Pages of 4 KiB in the log that cause a checkpoint. SQLite's default is 1,000; a larger number copies pages that
    /// change often less often.
    static let pagesBetweenCheckpoints = 4096

    private let path: String
    private let readers: Int
    let statements = StatementCount()
    private let current: Locked<DatabasePool>
    private let state = Locked(State())
    private let backgroundCheck = Locked<BackgroundCheck?>(nil)

    private struct State {
        /// Pages that were written to the log since the last checkpoint.
        var pages = 0
        /// A checkpoint has failed, and none has succeeded since.
        var needsCheckpoint = false
        /// A checkpoint has failed on the present connections, so they may read lost pages.
        var mayHaveLostPages = false
    }

    /// Opens the database, and creates the file if it is missing.
    init(path: String, readers: Int) throws {
        self.path = path
        self.readers = readers
        current = Locked(try Self.open(path, readers: readers, counting: statements))
    }

    /// The current pool. A caller must not store the pool, because a failed checkpoint replaces it.
    var pool: DatabasePool { current.withLock { $0 } }

    package func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value {
        let pool = pool
        do {
            return try pool.read { try body(SQLConnection($0)) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
            // A failed checkpoint has closed the pool meanwhile.
            let next = self.pool
            guard next !== pool else { throw error }
            return try next.read { try body(SQLConnection($0)) }
        }
    }

    /// Reads a database file, whether or not a service uses it.
    static func read<Value>(_ path: String, _ body: (SQLConnection) throws -> Value) throws -> Value {
        let database = try reader(path)
        defer { try? database.close() }
        return try database.read { try body(SQLConnection($0)) }
    }

    static func reader(_ path: String) throws -> DatabaseQueue {
        var configuration = configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Makes a checkpoint if the log is large enough and the last checkpoint has not failed.
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

    /// Makes one change while the store is opened. Later, the writer makes all changes.
    package func change(_ body: (SQLConnection) throws -> Void) throws {
        try pool.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                try body(SQLConnection(db))
                return .commit
            }
        }
    }

    /// A checkpoint has failed, and none has succeeded since.
    var needsCheckpoint: Bool { state.withLock { $0.needsCheckpoint } }

    /// Copies the log into the database file, and syncs the file.
    ///
    /// - Throws: when the copy or the sync failed. Nothing is lost: the log has the data, and the next checkpoint
    ///   copies all of it.
    func checkpoint(_ mode: Database.CheckpointMode) throws {
        if state.withLock({ $0.mayHaveLostPages }) { try reopen() }
        do {
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(mode) }
            state.withLock {
                $0.pages = 0
                $0.needsCheckpoint = false
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Another connection reads, or another process makes a checkpoint. The next checkpoint copies the remaining
            // pages.
            if mode == .truncate { throw error }
        } catch {
            // Reopen at once, before another change reads anything: SQLite reads pages from the file that it considers
            // copied.
            state.withLock {
                $0.mayHaveLostPages = true
                $0.needsCheckpoint = true
            }
            try? reopen()
            throw error
        }
    }

    /// Checks the database while the service runs.
    func checkInBackground(_ log: Logger) {
        do {
            let backgroundCheck = try BackgroundCheck(path: path, log: log)
            self.backgroundCheck.withLock { $0 = backgroundCheck }
        } catch {
            log.warning("fetchd cannot check the database: \(error)")
        }
    }

    /// What the background check has found; nil when it has found nothing so far.
    var damage: String? { backgroundCheck.withLock { $0?.finding } }

    /// Copies the log into the database file, so that only this file remains, and closes all connections.
    ///
    /// - Throws: when the copy failed. The connections are closed nevertheless, and the log stays.
    func close() throws {
        backgroundCheck.withLock { $0?.stop() }
        // The readers first: only the last connection can remove the log.
        pool.releaseMemory()
        let outcome = Result { try checkpoint(.truncate) }
        if case .success = outcome {
            // The log is empty, so the close only removes it.
            self.pool.writeWithoutTransaction { sqlite_keep_log_at_close($0.sqliteConnection!, 0) }
        }
        try self.pool.close()
        try outcome.get()
    }

    /// Reads that begin meanwhile wait until the new pool is open.
    private func reopen() throws {
        backgroundCheck.withLock { $0?.stop() }
        try current.withLock { pool in
            try pool.close()
            guard !isHeldByOthers else { throw DatabaseError(resultCode: .SQLITE_IOERR, message: Self.held) }
            pool = try Self.open(path, readers: readers, counting: statements)
        }
        state.withLock { $0.mayHaveLostPages = false }
    }

    private static let held = "after a failed sync, another process has the database open"

    /// Whether another process is connected. Its connections would preserve the number of copied pages. Call this only
    /// while this process has no connection: closing any descriptor of the file releases all locks of the process.
    private var isHeldByOthers: Bool {
        let index = Glibc.open(path + "-shm", O_RDWR | O_CLOEXEC)
        guard index >= 0 else { return false }
        defer { Glibc.close(index) }
        // The byte that every connection locks for reading, the "dead man's switch" of SQLite's os_unix.c.
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 128
        lock.l_len = 1
        return fcntl(index, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    private static let leavesAllocationsUncounted: Void = sqlite_leave_allocations_uncounted()

    private static func open(_ path: String, readers: Int, counting statements: StatementCount) throws -> DatabasePool {
        leavesAllocationsUncounted
        var configuration = configuration(readers: readers)
        configuration.prepareDatabase { db in statements.observe(db.sqliteConnection!) }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // GRDB sets NORMAL for pools, which does not sync commits.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    /// The configuration of a connection that makes no checkpoint by itself.
    static func configuration(readers: Int = 1) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = readers
        configuration.foreignKeysEnabled = true
        // Another process may read the file with `sqlite3`.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            sqlite_keep_log_at_close(db.sqliteConnection!, 1)
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY")
        }
        return configuration
    }
}

extension Connections {
    /// Rewrites the file without its free space, and empties the log.
    func vacuum() throws {
        try rewrite()
        try checkpoint(.truncate)
    }

    /// Rewrites the file without its free space, also while other connections read. The checkpoint that makes the file
    /// smaller may have to wait for them.
    func rewrite() throws {
        try pool.writeWithoutTransaction { db in
            // The copy of a large database does not fit into memory.
            try db.execute(sql: "PRAGMA temp_store = FILE")
            defer { try? db.execute(sql: "PRAGMA temp_store = MEMORY") }
            try db.execute(sql: "VACUUM")
        }
        try checkpoint(.passive)
    }
}

/// Checks a large database while the service runs, on its own connection.
final class BackgroundCheck: Sendable {
    private let database: DatabaseQueue
    private let queue = DispatchQueue(label: "fetchd.backgroundCheck", qos: .utility)
    private let damage = Locked<String?>(nil)

    init(path: String, log: Logger) throws {
        database = try Connections.reader(path)
        queue.async { [self] in run(path, log) }
    }

    /// SQLite's message; nil when it has found nothing so far.
    var finding: String? { damage.withLock { $0 } }

    /// Returns when the connection is closed.
    func stop() {
        database.interrupt()
        queue.sync { try? database.close() }
    }

    private func run(_ path: String, _ log: Logger) {
        log.info("The last run did not close the database. fetchd checks it while the service runs.")
        do {
            guard let finding = try database.inDatabase(StartupCheck.quickCheck) else {
                return log.info("The check of the database found no error.")
            }
            damage.withLock { $0 = finding }
            log.error("\(StoreError.databaseDamaged(path: path, why: finding))")
        } catch {
            log.warning("The check of the database did not finish: \(error)")
        }
    }
}

/// The number of SQL statements that connections have run.
final class StatementCount: @unchecked Sendable {
    // SQLite's callback adds to it atomically, on the thread of each connection.
    private let count = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    init() { count.initialize(to: 0) }

    deinit { count.deallocate() }

    var value: Int { Int(sqlite_statement_count(count)) }

    /// Counts the statements of this connection from now on. The count must outlive the connection.
    func observe(_ connection: OpaquePointer) { sqlite_count_statements(connection, count) }
}

/// Records which system error caused the last failure of each database file. A result code of SQLite, such as
/// SQLITE_IOERR_FSYNC, does not distinguish a full disk from a broken one. The line in SQLite's error log does.
enum FileErrors {
    /// The `errno` for each absolute path.
    private static let codes = Locked<[String: Int32]>([:])

    /// Must be called before the process opens its first connection: later SQLite ignores the setting.
    static func install() { _ = isInstalled }

    private static let isInstalled: Bool = {
        Database.logError = { _, line in note(line) }
        return true
    }()

    /// - Parameter line: such as `os_unix.c:43765: (28) fsync(/data/fetchd.sqlite-wal) - No space left on device`.
    static func note(_ line: String) {
        guard let match = line.wholeMatch(of: /os_unix\.c:\d+: \((\d+)\) \w+\((.+?)\) - .*/), let code = Int32(match.1)
        else { return }
        codes.withLock { $0[String(match.2)] = code }
    }

    /// Returns and clears the recorded error of the database, its log or its index.
    static func take(ofDatabase path: String) -> Int32? {
        let names = [path, path + "-wal", path + "-shm"]
        return codes.withLock { codes in
            let known = codes.keys.filter { key in names.contains { key == $0 || key.hasSuffix("/" + $0) } }
            return known.compactMap { codes.removeValue(forKey: $0) }.last
        }
    }
}
