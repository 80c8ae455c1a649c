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
