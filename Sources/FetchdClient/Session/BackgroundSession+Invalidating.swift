import Foundation

extension BackgroundSession {
    /// Takes no more tasks, waits until all tasks have ended and all calls have been made, and deletes the session. The files
    /// stay. Do not wait for it in a method of the delegate.
    /// - Throws: what the service refused. The session is detached then, and exists.
    public func finishTasksAndInvalidate() async throws(FetchdError) {
        isClosed.withLock { $0 = true }
        try await deleteWhenIdle()
    }

    /// Cancels all tasks, waits until all calls have been made, and deletes the session. Do not wait for it in a method of the
    /// delegate.
    /// - Throws: what the service refused. The session is detached then, and exists.
    public func invalidateAndCancel() async throws(FetchdError) {
        isClosed.withLock { $0 = true }
        while try !hasSubmittedAll() { try await Self.pause() }
        _ = try await service.persist("POST", path + "/cancel")
        try await deleteWhenIdle()
    }

    /// - Throws: why the session has ended. Its tasks are not submitted any more then.
    private func hasSubmittedAll() throws(FetchdError) -> Bool {
        if let failure = failure.current { throw failure }
        return folder?.pendingTasks().isEmpty ?? true
    }

    private func deleteWhenIdle() async throws(FetchdError) {
        let result = await Self.result { () throws(FetchdError) in
            while try await !self.isSettled() { try await Self.pause() }
            if self.record.current.acknowledged > self.confirmed.current { try await self.acknowledgeAnswered() }
            _ = try await self.service.persist("DELETE", self.path)
        }
        await detach()
        try result.get()
        await delegate?.session(self, didBecomeInvalidWithError: nil)
    }

    private static func result(
        of work: () async throws(FetchdError) -> Void
    ) async -> Result<Void, FetchdError> {
        do throws(FetchdError) {
            try await work()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Whether nothing is outstanding at the service, and nothing is left to deliver.
    private func isSettled() async throws(FetchdError) -> Bool {
        guard try hasSubmittedAll() else { return false }
        let session = try await service.persist("GET", path).decoded(as: SessionDocument.self)
        guard session.state == "idle", session.finishDueAt == nil else { return false }
        return delegate == nil || position.current >= session.lastEvent
    }

    private static func pause() async throws(FetchdError) {
        do {
            try await Task.sleep(for: .milliseconds(200))
        } catch {
            throw .cancelled
        }
    }
}
