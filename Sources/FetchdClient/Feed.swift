import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The stream of a session's events and progress from a position on. It connects again after every loss and continues
/// where it was, so no event is missed or repeated.
struct Feed {
    private let service: Service
    private let filter: [String: String]
    private var position: Int64
    private var connection: FeedConnection?
    private var backoff = Backoff()

    /// - Parameter type: an event type or pattern; nil for all events, and progress.
    init(of session: String, at service: Service, after position: Int64, type: String? = nil) {
        self.service = service
        self.position = position
        filter = ["session": session, "type": type].compactMapValues(\.self)
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
        let query = filter.merging(["after": "\(position)"]) { $1 }
        return try await FeedConnection(
            service.request("GET", "/v1/events", query: query, headers: ["Accept": "text/event-stream"]),
            isolation: actor)
    }

    private struct Reset: Decodable { let firstAvailable: Int64 }
    private struct Position: Decodable { let after: Int64 }

    /// nil for blocks that only move the position.
    private mutating func item(_ block: ServerSentEvent) throws(FetchdError) -> FeedItem? {
        do {
            let decoder = Wire.decoder()
            switch block.type {
            case "position":
                position = max(position, try decoder.decode(Position.self, from: block.data).after)
                return nil
            case "reset":
                let first = try decoder.decode(Reset.self, from: block.data).firstAvailable
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

enum FeedItem: Sendable {
    case event(SessionEvent)
    /// Passing: it is not repeated after a lost connection.
    case progress(JobProgress)
    /// Events before this one were removed; the stream continues with it.
    case reset(firstAvailable: Int64)
}

struct JobProgress: Sendable, Decodable {
    let job: String
    let progress: DownloadProgress
}

/// One connection of a `Feed`. Releasing it closes the connection.
struct FeedConnection {
    private let stream: ByteStream
    private var chunks: AsyncThrowingStream<ByteStream.Chunk, any Error>.Iterator
    private var parser = EventStreamParser()
    private var ready: ArraySlice<ServerSentEvent> = []

    /// - Throws: the refusal of the service, or `unreachable`.
    init(_ request: URLRequest, isolation actor: isolated (any Actor)?) async throws(FetchdError) {
        let (stream, chunks) = ByteStream.open(request)
        self.stream = stream
        self.chunks = chunks.makeAsyncIterator()
        guard case .head(let status) = try await chunk(isolation: actor) else { throw .unreachable("no answer") }
        guard status == 200 else { throw await refusal(status, isolation: actor) }
    }

    /// nil at the end of the stream.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(FetchdError) -> ServerSentEvent? {
        while true {
            if let event = ready.popFirst() { return event }
            switch try await chunk(isolation: actor) {
            case nil: return nil
            case .head: continue
            case .bytes(let bytes): ready = try parser.read(bytes)[...]
            }
        }
    }

    private mutating func chunk(isolation actor: isolated (any Actor)?) async throws(FetchdError) -> ByteStream.Chunk? {
        do {
            let chunk = try await chunks.next(isolation: actor)
            if case .bytes(let bytes) = chunk { stream.took(bytes.count) }
            guard chunk != nil || !Task.isCancelled else { throw FetchdError.cancelled }
            return chunk
        } catch {
            let failure = Transport.failure(error)
            // A connection that this client closed, because its reader was slow, is opened again.
            throw failure == .cancelled && !Task.isCancelled ? .unreachable("the stream was closed") : failure
        }
    }

    private mutating func refusal(_ status: Int, isolation actor: isolated (any Actor)?) async -> FetchdError {
        var body = Data()
        while let chunk = try? await chunk(isolation: actor) {
            if case .bytes(let bytes) = chunk { body += bytes }
        }
        return ServiceResponse(status: status, entityTag: nil, body: body).refusal
    }
}
