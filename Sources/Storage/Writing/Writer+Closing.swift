extension Writer {
    /// Closes the database after the writes that arrived before.
    func close() async throws(StoreError) {
        let outcome: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                condition.withLock { $0.isClosed = true }
                continuation.resume(returning: Result { () throws(StoreError) in try engine.close() })
            }
        }
        try outcome.get()
    }
}
