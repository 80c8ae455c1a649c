import Foundation

/// The stream of a session's events and progress from a position on. It connects again after every loss and continues
/// where it was, so no event is missed or repeated.
struct Feed {
    private let service: Service
    private let filter: [URLQueryItem]
    private var position: Int64
    private var connection: FeedConnection?
    private var backoff = Backoff()

    /// - Parameter type: an event type or pattern; nil for all events, and progress.
    init(of session: String, at service: Service, after position: Int64, type: String? = nil) {
        self.service = service
        self.position = position
        filter =
            [URLQueryItem(name: "session", value: session)]
            + (type.map { [URLQueryItem(name: "type", value: $0)] } ?? [])
    }

    /// - Throws: an error that is not temporary, or `cancelled`.
    mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(FetchdError) -> FeedItem {
        while true {
            do throws(FetchdError) {
                guard var current = connection else {
                    connection = try await connect(isolation: actor)
                    continue
                }
                guard let block = try await current.next(isolation: actor) else {
                    throw FetchdError.unreachable("the stream ended")
                }
                connection = current
                backoff.reset()
                if let item = try item(block) { return item }
            } catch  where error.isTemporary {
                connection = nil
                try await backoff.pause()
            }
        }
    }

    private func connect(isolation actor: isolated (any Actor)?) async throws(FetchdError) -> FeedConnection {
        try await FeedConnection(
            service.request(
                "GET", "/v1/events", query: filter + [URLQueryItem(name: "after", value: "\(position)")],
                headers: ["Accept": "text/event-stream"]),
            isolation: actor)
    }

    /// nil for blocks that only move the position.
    private mutating func item(_ block: ServerSentEvent) throws(FetchdError) -> FeedItem? {
        do {
            let decoder = Wire.decoder()
            switch block.type {
            case "position":
                position = max(position, try decoder.decode(StreamPosition.self, from: block.data).after)
                return nil
            case "reset":
                let first = try decoder.decode(StreamReset.self, from: block.data).firstAvailable
                position = first - 1
                return .reset(firstAvailable: first)
            case "job.progress": return .progress(try decoder.decode(JobProgress.self, from: block.data))
            default:
                let event = try decoder.decode(SessionEvent.self, from: block.data)
                position = event.id
                return .event(event)
            }
        } catch {
            throw .unexpectedAnswer("\(error)")
        }
    }
}
