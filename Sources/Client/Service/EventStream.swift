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
    }

    /// A notice to the listener.
    enum Notice: Sendable {
        case event(ServerSentEvent)
        /// The stream was lost, and the client connects again. Sent once for each interruption.
        case lost(ClientError)
        /// The interruption is longer than a restart takes. Sent once for each interruption.
        case missed(ClientError)
        case back
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
                    if failures > 0 { _ = try await deliver(.back) }
                    failures = 0
                    backoff = Backoff()
                    guard let event = notice else { return true }
                    return try await deliver(.event(event))
                }
                if !wantsMore { return }
            } catch let error as ClientError where error.status == .unavailable {
                failures += 1
                if failures == 1 { _ = try await deliver(.lost(error)) }
                if failures == Self.failuresOfARestart { _ = try await deliver(.missed(error)) }
            }
            // A stream that ends without an error also means that the service stops.
            try await Task.sleep(for: backoff.next())
        }
    }

    /// Together with the waits between the attempts, this takes 3 to 6 seconds.
    private static let failuresOfARestart = 5

    /// Reads one connection to its end.
    ///
    /// - Parameter heard: called with nil when the response begins.
    private mutating func read(_ heard: (ServerSentEvent?) async throws -> Bool) async throws -> Bool {
        var parser = ServerSentEventParser()
        var refusal: (head: ResponseHead, body: [UInt8])?
        do {
            for try await piece in BodyStream.open(request, with: service.curl) {
                switch piece {
                case .head(let head) where head.status != 200:
                    refusal = (head, [])
                case .head:
                    guard try await heard(nil) else { return false }
                case .chunk(let chunk) where refusal != nil:
                    refusal?.body += chunk.bytes
                case .chunk(let chunk):
                    for event in parser.receive(chunk.bytes) where event.type != "position" {
                        guard try await heard(event) else { return false }
                        position = event.lastID.flatMap { Int64($0) } ?? position
                    }
                    position = parser.lastID.flatMap { Int64($0) } ?? position
                }
            }
        } catch let error as TransferError {
            try Task.checkCancellation()
            throw ClientError.unreachable(service.address, error)
        }
        try Task.checkCancellation()
        if let refusal { throw service.failure(refusal.head.status, refusal.head.headers, refusal.body) }
        return true
    }

    private var request: TransferRequest {
        var path = RequestPath("events").asking("session", filter.session).asking("job", filter.job)
        path = path.asking("type", filter.type)
        let headers = [(name: "Accept", value: "text/event-stream"), ("Last-Event-ID", String(position))]
        // The timeout is several heartbeats long. It detects a connection that was lost without notice.
        return service.request("GET", path, headers: headers, idle: .seconds(100))
    }
}
