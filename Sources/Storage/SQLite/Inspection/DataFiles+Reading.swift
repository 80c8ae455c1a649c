import GRDB

extension DataFiles {
    /// Reads one snapshot of the database, with or without a service that uses it.
    ///
    /// - Throws: `StoreError`: that of the body; `databaseIncomplete`, `databaseFromNewerVersion`, `markUnreadable`,
    ///   `databaseUnreadable`.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws(StoreError) -> Value {
        do {
            // Before the database, which therefore has at least the commits of the mark.
            let mark = try MarkFile.read(mark)
            var configuration = Connections.configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: database, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { db in
                let db = SQLConnection(db)
                try requireComplete(db, mark)
                return try body(db)
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .databaseUnreadable(path: database, why: "\(error)")
        }
    }
}
