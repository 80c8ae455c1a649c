import CurlClient
import Formats
import Foundation

/// The event stream of the service. If the connection is lost or the service restarts, it connects again and continues after
/// the last event it has received. It misses no event and delivers none twice.
struct EventStream: Sendable {
    /// The events to receive; nil matches all.
    struct Filter: Sendable {
        var session: String?
        var job: String?
        var type: String?

        var path: RequestPath { RequestPath("events").query("session", session).query("job", job).query("type", type) }
    }

    enum Notice: Sendable {
        case event(ServerSentEvent)
        /// The stream was lost, and the client connects again. Sent once for each interruption.
        case disconnected
        /// The interruption is longer than a restart takes. Sent once for each interruption.
        case outage(ClientError)
        case reconnected
    }

    private let service: RemoteService
    private let filter: Filter
    private var position: Int64

    /// - Parameter position: the number of the event after which the stream starts.
    init(_ service: RemoteService, _ filter: Filter, after position: Int64) {
        self.service = service
        self.filter = filter
        self.position = position
    }

    /// Listens until `deliver` returns false, the task is cancelled, or the service refuses the request.
    mutating func listen(_ deliver: (Notice) async throws -> Bool) async throws {
        var backoff = Backoff()
        var failures = 0
        while true {
            try Task.checkCancellation()
            do {
                let wantsMore = try await read { notice in
                    if failures > 0 { _ = try await deliver(.reconnected) }
                    failures = 0
                    backoff = Backoff()
                    guard let event = notice else { return true }
                    return try await deliver(.event(event))
                }
                if !wantsMore { return }
            } catch let error as ClientError where error.status == .unavailable {
                failures += 1
                if failures == 1 { _ = try await deliver(.disconnected) }
                if failures == Self.failuresOfARestart { _ = try await deliver(.outage(error)) }
            }
            // A stream that ends without an error also means that the service stops.
            try await Task.sleep(for: backoff.next())
        }
    }

    /// Together with the waits between the attempts, this takes 3 to 6 seconds.
    private static let failuresOfARestart = 5

    /// - Parameter receive: called with nil when the response begins.
    private mutating func read(_ receive: (ServerSentEvent?) async throws -> Bool) async throws -> Bool {
        var parser = ServerSentEventParser()
        return try await service.stream(request) { _ in
            try await receive(nil)
        } chunk: { chunk in
            for event in parser.receive(chunk.withUnsafeBytes { Array($0) }) where event.type != "position" {
                guard try await receive(event) else { return false }
                position = event.lastID.flatMap { Int64($0) } ?? position
            }
            position = parser.lastID.flatMap { Int64($0) } ?? position
            return true
        }
    }

    private var request: TransferRequest {
        let headers = [(name: "Accept", value: "text/event-stream"), ("Last-Event-ID", String(position))]
        // The timeout is several heartbeats long. It detects a connection that was lost without notice.
        return service.request("GET", filter.path, headers: headers, idle: .seconds(100))
    }
}

extension RemoteService {
    /// Receives a response as a stream: its head, then its bytes. Unread bytes stay in the window of the transfer, so a slow
    /// reader slows down the service, and memory stays bounded.
    ///
    /// - Parameters:
    ///   - begin: called with the head of a successful response.
    ///   - chunk: called with all bytes of the body, in order. If one of the two returns false, the request ends.
    /// - Returns: false if the reader has ended the request.
    func stream(
        _ request: TransferRequest, begin: (ResponseHead) async throws -> Bool, chunk: (Chunk) async throws -> Bool
    ) async throws -> Bool {
        var refusal: (head: ResponseHead, body: [UInt8])?
        do {
            for try await piece in BodyStream.open(request, with: curl) {
                switch piece {
                case .head(let head) where head.status != 200 && head.status != 206: refusal = (head, [])
                case .head(let head): guard try await begin(head) else { return false }
                case .chunk(let bytes) where refusal != nil: refusal?.body += bytes.withUnsafeBytes { Array($0) }
                case .chunk(let bytes): guard try await chunk(bytes) else { return false }
                }
            }
        } catch let error as TransferError {
            try Task.checkCancellation()
            throw ClientError.unreachable(address, error)
        }
        try Task.checkCancellation()
        if let refusal { throw failure(refusal.head.status, refusal.head.headers, refusal.body) }
        return true
    }
}

/// The pieces of a response. The request ends when their reader stops or its task is cancelled.
private enum BodyStream {
    enum Piece: Sendable {
        case head(ResponseHead)
        case chunk(Chunk)
    }

    static func open(_ request: TransferRequest, with curl: CurlClient) -> AsyncThrowingStream<Piece, any Error> {
        AsyncThrowingStream { continuation in
            let transfer = curl.start(request, handler: Handler(continuation))
            continuation.onTermination = { _ in transfer.cancel() }
        }
    }

    private final class Handler: TransferHandler {
        private let continuation: AsyncThrowingStream<Piece, any Error>.Continuation

        init(_ continuation: AsyncThrowingStream<Piece, any Error>.Continuation) { self.continuation = continuation }

        func received(head: ResponseHead) -> HeadDecision {
            continuation.yield(.head(head))
            return .accept
        }

        func received(chunk: Chunk) { continuation.yield(.chunk(chunk)) }

        func finished(_ result: TransferResult) {
            switch result.outcome {
            case .completed: continuation.finish()
            case .failed(let error): continuation.finish(throwing: error)
            case .cancelled, .rejected: continuation.finish(throwing: TransferError.cancelled)
            }
        }
    }
}
