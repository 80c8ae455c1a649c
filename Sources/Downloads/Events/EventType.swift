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
    /// Every unfinished job of the session waits for help: for credentials or for a new URL.
    case sessionWaiting = "session.waiting"
    case sessionFinished = "session.finished"
    /// Nothing is posted to the endpoint any more.
    case webhookDisabled = "webhook.disabled"
    /// A client tests whether the endpoint accepts a post.
    case webhookTest = "webhook.test"
}
