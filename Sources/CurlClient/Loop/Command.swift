/// What other threads ask of the loop.
enum Command: Sendable {
    case start(Submission)
    case cancel(TransferID)
    /// Enough chunks were released for a paused transfer to go on.
    case resume(TransferID)
    /// A rate limit that the transfer waits for was changed.
    case rateLimitChanged(TransferID)
    /// A name was looked up; no address: in vain.
    case completeLookup(String, [IPAddress])
    case shutdown
}
