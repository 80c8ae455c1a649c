import Formats
import Foundation

/// A fact about a job or session. An event has a number, is written once and never changes.
public struct Event: Sendable, Equatable {
    public var id: EventID
    public var type: EventType
    public var time: Date
    public var session: Name
    public var job: JobID?
    /// A JSON object, as it was written to the journal.
    public var data: String

    public init(id: EventID, type: EventType, time: Date, session: Name, job: JobID?, data: String) {
        self.id = id
        self.type = type
        self.time = time
        self.session = session
        self.job = job
        self.data = data
    }
}

/// The number of an event in the journal. Numbers are assigned in commit order and never reused. They are not
/// necessarily consecutive.
public typealias EventID = Int64

public enum EventType: String, Sendable, CaseIterable {
    case jobCreated = "job.created"
    /// Once for each attempt.
    case jobStarted = "job.started"
    /// The server continues after the received bytes.
    case jobResumed = "job.resumed"
    case jobRestarted = "job.restarted"
    case jobWaiting = "job.waiting"
    case jobPaused = "job.paused"
    case jobMoved = "job.moved"
    case jobSucceeded = "job.succeeded"
    case jobFailed = "job.failed"
    case jobCancelled = "job.cancelled"
    case jobDeleted = "job.deleted"
    /// Every unfinished job of the session waits for help: for credentials or for a new URL.
    case sessionWaiting = "session.waiting"
    case sessionFinished = "session.finished"
    /// fetchd posts no more events to the endpoint.
    case webhookDisabled = "webhook.disabled"
    /// A client tests whether the endpoint accepts a post.
    case webhookTest = "webhook.test"
}

/// The events that a webhook receives: one type, or all types of a kind (`job.*`, `session.*`).
public struct EventPattern: Sendable, Hashable {
    public let text: String

    /// nil if the pattern matches no event type.
    public init?(_ text: String) {
        let pattern = EventPattern(trusted: text)
        guard EventType.allCases.contains(where: pattern.matches) else { return nil }
        self = pattern
    }

    /// Makes a pattern that was validated before it was stored.
    public init(trusted text: String) { self.text = text }

    public func matches(_ type: EventType) -> Bool {
        text.hasSuffix(".*") ? type.rawValue.hasPrefix(text.dropLast()) : type.rawValue == text
    }
}

/// The two forms of an event: as clients read it from the journal, and as fetchd posts it to a webhook.
extension Event {
    public var document: JSON {
        [
            "id": .integer(id), "type": .string(type.rawValue), "time": .time(time), "session": .string(session.text),
            "job": .optional(job?.text), "data": .text(data),
        ]
    }

    /// The body of a webhook request (Standard Webhooks 1.0.0). It depends only on the event, so every attempt posts
    /// the same bytes.
    public var posted: JSON { ["type": .string(type.rawValue), "timestamp": .time(time), "data": postedData] }

    /// The body of the requests of a delivery.
    public func posted(as format: WebhookFormat, of delivery: DeliveryID) -> JSON {
        switch format {
        case .standard: posted
        case .cloudevents: cloudEvent(delivery)
        }
    }

    private var postedData: JSON {
        let about: JSON = ["event": .integer(id), "session": .string(session.text), "job": .optional(job?.text)]
        return .text(joined(about.written, data))
    }

    /// The same in the structured form of CloudEvents (1.0.2, section 3.1, and JSON event format 1.0.2).
    ///
    /// - Parameter id: of the delivery, which is the same for every repetition, and different for every other service.
    private func cloudEvent(_ id: DeliveryID) -> JSON {
        var event: JSONObject = [
            "specversion": "1.0", "id": .string(id.text), "source": .string("/v1/sessions/\(session)"),
            "type": .string("fetchd.\(type.rawValue)"), "time": .time(time), "datacontenttype": "application/json",
            "data": postedData,
        ]
        if let job { event["subject"] = .string(job.text) }
        return .object(event)
    }

    /// Merges two JSON objects as text, so that the data in the journal is posted byte for byte.
    private func joined(_ first: String, _ second: String) -> String {
        second == "{}" ? first : first.dropLast() + "," + second.dropFirst()
    }
}
