/// The finished batches of a session: `for try await batch in try await session.finished`.
public struct FinishedBatches: AsyncSequence, Sendable {
    public typealias Element = FinishedBatch
    public typealias Failure = FetchdError

    let events: SessionEvents

    public struct AsyncIterator: AsyncIteratorProtocol {
        var events: SessionEvents.AsyncIterator

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(FetchdError) -> FinishedBatch? {
            while let event = try await events.next(isolation: actor) {
                if case .sessionFinished(let batch) = event.kind { return batch }
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: events.makeAsyncIterator()) }
}
