import GRDB

/// Rewrites the database of a stopped service without its free space.
public enum Compaction {
    /// An interruption leaves the former file. The rewriting needs as much free space as the data in use.
    ///
    /// - Returns: the space before and after.
    /// - Throws: `folderInUse`; as `Store.init` for a database that cannot be opened.
    public static func run(inDataFolder path: String) throws(StoreError) -> (
        before: DatabaseSpace, after: DatabaseSpace
    ) {
        let folder = try DataFolder(at: path)
        guard try folder.size(of: folder.database) ?? 0 > 0 else {
            throw .databaseUnreadable(path: folder.database, why: "it does not exist")
        }
        _ = try StartupCheck(
            folder: folder, mark: try MarkFile.read(folder.mark), quickCheckLimit: .max
        ).run()
        do {
            let connections = try Connections(path: folder.database, readers: 1)
            let before = try connections.read(DatabaseSpace.init(readFrom:))
            try connections.vacuum()
            let after = try connections.read(DatabaseSpace.init(readFrom:))
            try connections.close()
            return (before, after)
        } catch {
            throw folder.openingError(error)
        }
    }
}

/// How much of a database file is in use. Deleted rows leave free pages, which later rows use; the file does not become
/// smaller by itself.
public struct DatabaseSpace: Sendable, Equatable {
    /// The size of the file in bytes.
    public var size: Int64
    /// The bytes of its free pages.
    public var free: Int64

    init(readFrom db: SQLConnection) throws {
        let page = try db.value("PRAGMA page_size", as: Int64.self) ?? 0
        size = page * (try db.value("PRAGMA page_count", as: Int64.self) ?? 0)
        free = page * (try db.value("PRAGMA freelist_count", as: Int64.self) ?? 0)
    }

    init(size: Int64, free: Int64) {
        self.size = size
        self.free = free
    }

    /// The bytes in use, which a rewriting of the file copies.
    public var used: Int64 { size - free }

    /// Whether a rewriting is worth its cost: at least half of the file is free, and at least 16 MiB.
    public var isMostlyFree: Bool { free >= 16 << 20 && free * 2 >= size }
}

/// Gives the free space of the database file back to the file system.
extension Store {
    /// How much of the database file is in use; nil if the database is not a file of this store.
    public func space() async throws(StoreError) -> DatabaseSpace? {
        guard engine is SQLiteEngine else { return nil }
        return try await read(DatabaseSpace.init(readFrom:))
    }

    /// Rewrites the file if it is mostly free and small enough. Writes wait meanwhile, about a second for 100 MiB; reads
    /// do not.
    ///
    /// - Parameter most: the number of bytes in use beyond which the file stays as it is.
    /// - Returns: the space before the rewriting; nil if the file was not rewritten.
    public func reclaimSpace(copyingAtMost most: Int64) async throws -> DatabaseSpace? {
        guard let database = engine as? SQLiteEngine, let space = try await space(), space.isMostlyFree,
            space.used <= most
        else { return nil }
        try await writer.rewriteFile(of: database)
        return space
    }
}

extension Writer {
    /// Rewrites the database file without its free space, after the writes that arrived before. Later writes wait.
    func rewriteFile(of database: SQLiteEngine) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        guard !condition.withLock({ $0.isClosed }) else { return }
                        try database.connections.rewrite()
                    })
            }
        }
    }
}
