import Glibc

/// The paths of the files in a data folder.
struct DataFiles: Sendable {
    let path: String

    var database: String { path + "/fetchd.sqlite" }
    /// The write-ahead log of SQLite.
    var log: String { database + "-wal" }
    /// The shared-memory index of SQLite. No data in it is needed after the connections are closed.
    var index: String { database + "-shm" }
    var mark: String { path + "/fetchd.mark" }
    /// The identifier of the service among those that share a PostgreSQL database.
    var node: String { path + "/node" }
    /// A running service holds an exclusive lock on it.
    var lock: String { path + "/lock" }
}

extension DataFiles {
    /// Refuses a database that lacks committed data, or that is of a newer version.
    ///
    /// - Parameter mark: was read before the database, so the database has at least its commits.
    func requireComplete(_ db: SQLConnection, _ mark: Mark?) throws {
        try Schema.requireKnown(db.sqlite, path: database)
        let history = try History.read(db)
        guard let mark, mark.state == .running || mark.state == .clean else { return }
        var status = stat()
        let logSize = stat(log, &status) == 0 ? Int64(status.st_size) : 0
        guard let loss = StartupCheck.loss(of: history, comparedWith: mark, logSize: logSize) else { return }
        throw StoreError.databaseIncomplete(path: database, loss)
    }
}
