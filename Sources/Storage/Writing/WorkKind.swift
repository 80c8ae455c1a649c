/// The kinds of work that a commit can make due. Each kind has one worker, which waits for `Store.work(_:)`.
/// The letters name them in notices to other nodes.
public enum WorkKind: String, Sendable, CaseIterable {
    /// Jobs may be admitted.
    case jobs = "j"
    /// A batch has become due, or its due time has changed.
    case batches = "b"
    /// Deliveries can be sent.
    case deliveries = "d"
    /// A deleted session may have nothing left to settle.
    case sessions = "s"
    /// A job has a time limit that ends soon.
    case deadlines = "t"
    /// The expiry of a part has begun.
    case parts = "p"
    /// The schedule of the limits may have changed.
    case schedule = "h"
    /// A client has changed a setting of the service.
    case settings = "e"
    /// A client has changed the rate limit of a session.
    case configurations = "c"
    /// A client has created, changed or deleted a token.
    case tokens = "k"
    /// A job that runs on another node has to stop, or its specification has changed.
    case attempts = "a"
    /// The lease of another node has ended, or no node leads.
    case nodes = "n"
    /// Another node has a file to remove in its own folder.
    case removals = "r"
}
