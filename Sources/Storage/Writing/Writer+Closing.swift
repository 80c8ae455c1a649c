extension Writer {
    /// Closes the connections after the writes that arrived before.
    ///
    /// - Parameter onClosed: is called on the writer's thread when they are closed.
    func close(_ onClosed: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                condition.withLock { $0.isClosed = true }
                continuation.resume(
                    with: Result {
                        try connections.close()
                        try onClosed()
                    })
            }
        }
    }
}
