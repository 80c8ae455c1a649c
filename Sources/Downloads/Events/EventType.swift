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
