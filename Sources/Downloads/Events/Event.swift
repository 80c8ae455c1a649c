import Foundation

/// A fact about a job or session: numbered, written once, never changed.
public struct Event: Sendable, Equatable {
    public var id: EventID
    public var type: EventType
    public var time: Date
    public var session: Name
    public var job: JobID?
    /// A JSON object, as it was written into the journal.
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

/// What kinds of facts there are.
public enum EventType: String, Sendable, CaseIterable {
    case jobCreated = "job.created"
    /// Once for each attempt.
    case jobStarted = "job.started"
    /// The server goes on where the part ends.
    case jobResumed = "job.resumed"
    /// The bytes so far could not be used.
    case jobRestarted = "job.restarted"
    case jobWaiting = "job.waiting"
    case jobPaused = "job.paused"
    case jobSucceeded = "job.succeeded"
    case jobFailed = "job.failed"
    case jobCancelled = "job.cancelled"
    case jobDeleted = "job.deleted"
    /// Every job that the session still owes waits for somebody's help.
    case sessionWaiting = "session.waiting"
    case sessionFinished = "session.finished"
    /// Nothing is posted to the endpoint any more.
    case webhookDisabled = "webhook.disabled"
    /// Somebody wants to see whether the endpoint takes what it is posted.
    case webhookTest = "webhook.test"
}

/// Which events a webhook wants: a type, or all of a kind (`job.*`, `session.*`).
public struct EventPattern: Sendable, Hashable {
    public let text: String

    /// nil when no event could ever match.
    public init?(_ text: String) {
        let pattern = EventPattern(trusted: text)
        guard EventType.allCases.contains(where: pattern.matches) else { return nil }
        self = pattern
    }

    /// For a pattern that was checked when it was stored.
    public init(trusted text: String) { self.text = text }

    public func matches(_ type: EventType) -> Bool {
        text.hasSuffix(".*") ? type.rawValue.hasPrefix(text.dropLast()) : type.rawValue == text
    }
}
