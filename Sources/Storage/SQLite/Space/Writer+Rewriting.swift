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
