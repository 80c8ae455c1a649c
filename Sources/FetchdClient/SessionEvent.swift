import Foundation

/// An event of the journal: a fact about a job or a session. It is written once and never changes.
public struct SessionEvent: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        case jobCreated
        case jobStarted
        /// The download continues from this offset.
        case jobResumed(offset: Int64, bytesExpected: Int64?)
        /// The download begins again at the first byte.
        case jobRestarted(why: String)
        /// The download waits: for a retry, a network, room, storage, credentials or another URL.
        case jobWaiting(reason: String, AuthenticationChallenge)
        case jobPaused
        case jobSucceeded(FinishedFile)
        /// The download failed or was cancelled.
        case jobEnded(DownloadError)
        case jobDeleted
        case sessionFinished(FinishedBatch)
        /// Another event, with its type. Later versions of the service may add types.
        case other(String)
    }

    /// Increases in the order in which things happened. Numbers need not be consecutive.
    public let id: Int64
    public let time: Date
    public let session: String
    public let job: String?
    public let kind: Kind

    let snapshot: JobDocument?

    public static func == (one: Self, other: Self) -> Bool { one.id == other.id && one.kind == other.kind }
}

extension SessionEvent: Decodable {
    private enum Name: String, CodingKey {
        case id, type, time, session, job, data
        // The members of `data`.
        case offset, bytesExpected, why, reason, challenge, failure, snapshot, batch, outcome, counts
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        func optional<Value: Decodable>(_ name: Name) throws -> Value? {
            try container.nestedContainer(keyedBy: Name.self, forKey: .data).decodeIfPresent(Value.self, forKey: name)
        }
        func data<Value: Decodable>(_ name: Name) throws -> Value {
            try container.nestedContainer(keyedBy: Name.self, forKey: .data).decode(Value.self, forKey: name)
        }
        id = try container.decode(Int64.self, forKey: .id)
        time = try container.decode(Date.self, forKey: .time)
        session = try container.decode(String.self, forKey: .session)
        job = try container.decodeIfPresent(String.self, forKey: .job)
        let type = try container.decode(String.self, forKey: .type)
        var snapshot: JobDocument?
        switch type {
        case "job.created": kind = .jobCreated
        case "job.started": kind = .jobStarted
        case "job.resumed": kind = .jobResumed(offset: try data(.offset), bytesExpected: try optional(.bytesExpected))
        case "job.restarted": kind = .jobRestarted(why: try data(.why))
        case "job.waiting":
            let failure: DownloadFailure = try data(.failure)
            let challenge = AuthenticationChallenge(demand: try optional(.challenge), message: failure.message)
            kind = .jobWaiting(reason: try data(.reason), challenge)
        case "job.paused": kind = .jobPaused
        case "job.deleted": kind = .jobDeleted
        case "job.succeeded", "job.failed", "job.cancelled":
            let job: JobDocument = try data(.snapshot)
            snapshot = job
            kind =
                switch job.result {
                case .success(let file): .jobSucceeded(file)
                case .failure(let error): .jobEnded(error)
                case nil: .other(type)
                }
        case "session.finished":
            kind = .sessionFinished(
                FinishedBatch(
                    event: id, number: try data(.batch), outcome: try data(.outcome), counts: try data(.counts)))
        default: kind = .other(type)
        }
        self.snapshot = snapshot
    }
}

struct EventPage: Decodable {
    let events: [SessionEvent]
}

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
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(FetchdError) -> SessionEvent? {
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

/// All downloads of a batch have ended. A batch contains the jobs of a session between two finishes.
public struct FinishedBatch: Sendable, Equatable {
    public enum Outcome: String, Sendable, Decodable {
        case succeeded, failed, cancelled
        case partlyFailed = "partly_failed"
    }

    public struct Counts: Sendable, Equatable, Decodable {
        public let succeeded: Int
        public let failed: Int
        public let cancelled: Int
    }

    /// The number of the event `session.finished`: the position to acknowledge.
    public let event: Int64
    /// The number of the batch within its session, from 1.
    public let number: Int
    public let outcome: Outcome
    public let counts: Counts
}

/// The finished batches of a session: `for try await batch in try await session.finished`.
public struct FinishedBatches: AsyncSequence, Sendable {
    public typealias Element = FinishedBatch
    public typealias Failure = FetchdError

    let events: SessionEvents

    public struct AsyncIterator: AsyncIteratorProtocol {
        var events: SessionEvents.AsyncIterator

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(FetchdError) -> FinishedBatch? {
            while let event = try await events.next(isolation: actor) {
                if case .sessionFinished(let batch) = event.kind { return batch }
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: events.makeAsyncIterator()) }
}
