/// The types of events.
public enum EventType: String, Sendable, CaseIterable {
    case jobCreated = "job.created"
    /// Once for each attempt.
    case jobStarted = "job.started"
    /// The server continues after the received bytes.
    case jobResumed = "job.resumed"
    /// The received bytes could not be used.
    case jobRestarted = "job.restarted"
    case jobWaiting = "job.waiting"
    case jobPaused = "job.paused"
    /// A client has moved the job to another place in the queue.
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
