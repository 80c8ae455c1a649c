/// The events of a session from a position on, without an end: `for try await event in session.events(after: position)`.
///
/// The sequence outlives restarts of the service: it continues after the last event that it has returned. Store the `id`
/// of each event together with your own change, and pass the stored one to ``BackgroundSession/events(after:)`` when your
/// program starts again. Each event then takes effect exactly once.
public struct SessionEvents: AsyncSequence, Sendable {
    public typealias Element = SessionEvent
    public typealias Failure = FetchdError

    let service: Service
    let session: String
    let position: Int64
    var type: String?

    public struct AsyncIterator: AsyncIteratorProtocol {
        var feed: Feed

        /// - Throws: `eventsLost` if events after the position have been removed, and errors that are not temporary.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(FetchdError) -> SessionEvent? {
            while true {
                switch try await feed.next(isolation: actor) {
                case .event(let event): return event
                case .progress: continue
                case .reset(let first): throw .eventsLost(firstAvailable: first)
                }
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: Feed(of: session, at: service, after: position, type: type))
    }
}
