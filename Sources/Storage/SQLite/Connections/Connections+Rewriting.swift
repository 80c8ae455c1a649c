import GRDB

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
