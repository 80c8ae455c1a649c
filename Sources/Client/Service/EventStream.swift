import CurlClient
import Formats
import Foundation

/// What happens, as the service tells it, for as long as somebody listens: a connection that is lost, or a service that
/// is started anew, is waited for and gone on with behind the last event that was had. Nothing is missed, nothing is told
/// twice.
struct EventStream: Sendable {
    /// Which events are wanted; nil wants all.
    struct Filter: Sendable {
        var session: String?
        var job: String?
        var type: String?
    }

    /// What a listener is told.
    enum Notice: Sendable {
        case event(ServerSentEvent)
        /// The stream was lost; it is tried again. Told once, until it is back.
        case lost(ClientError)
        /// It is away for longer than a restart takes. Told once, until it is back.
        case missed(ClientError)
        case back
    }

    private let service: RemoteService
    private let filter: Filter
    private var position: Int64

    /// - Parameter position: the event behind which it begins.
    init(_ service: RemoteService, _ filter: Filter, after position: Int64) {
        self.service = service
        self.filter = filter
        self.position = position
    }

    /// Listens until `deliver` says that it has heard enough (false), the task is cancelled, or the service refuses.
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
            // An orderly end, too, comes from a service that stops.
            try await Task.sleep(for: backoff.next())
        }
    }

    /// With the waits between them, 3 to 6 seconds.
    private static let failuresOfARestart = 5

    /// One connection, to its end.
    ///
    /// - Parameter heard: called with nil when the service has begun to answer.
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
                    for event in parser.receive(chunk.bytes) {
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
        // Several heartbeats long: a service that went away without a word is noticed, and nothing is lost by asking anew.
        return service.request("GET", path, headers: headers, idle: .seconds(100))
    }
}

/// How long to wait before the next try: from 0.2 s, doubled up to 5 s, with jitter, so that those who lost the same
/// service do not come back in one moment.
struct Backoff: Sendable {
    private var seconds = 0.2

    mutating func next() -> Duration {
        defer { seconds = min(seconds * 2, 5) }
        return .seconds(seconds * Double.random(in: 0.5...1))
    }
}
