/// How much of a database file is in use. Deleted rows leave free pages, which later rows use; the file does not become
/// smaller by itself.
public struct DatabaseSpace: Sendable, Equatable {
    /// The size of the file in bytes.
    public var size: Int64
    /// The bytes of its free pages.
    public var free: Int64

    package init(readFrom db: SQLConnection) throws {
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
        guard case .file = engine.upkeep else { return nil }
        return try await read(DatabaseSpace.init(readFrom:))
    }

    /// Rewrites the file if it is mostly free and small enough. Writes wait meanwhile, about a second for 100 MiB; reads
    /// do not.
    ///
    /// - Parameter most: the number of bytes in use beyond which the file stays as it is.
    /// - Returns: the space before the rewriting; nil if the file was not rewritten.
    public func reclaimSpace(copyingAtMost most: Int64) async throws -> DatabaseSpace? {
        guard let space = try await space(), space.isMostlyFree, space.used <= most else { return nil }
        try await writer.rewriteFile()
        return space
    }
}

extension Writer {
    /// Rewrites the database file without its free space, after the writes that arrived before. Later writes wait.
    fileprivate func rewriteFile() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                guard case .file(let rewrite) = engine.upkeep, !condition.withLock({ $0.isClosed }) else {
                    return continuation.resume()
                }
                continuation.resume(with: Result { try rewrite() })
            }
        }
    }
}
