/// A command from another thread to the loop.
enum Command: Sendable {
    case start(Submission)
    case cancel(TransferID)
    /// The window of a paused transfer has room again.
    case resume(TransferID)
    /// A rate limit that the transfer waits for has changed.
    case rateLimitChanged(TransferID)
    /// A lookup has ended. The addresses are empty if it failed.
    case completeLookup(String, [IPAddress])
    case shutdown
}
