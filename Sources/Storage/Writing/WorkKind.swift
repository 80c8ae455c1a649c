/// The kinds of work that a commit can make due. Each kind has one worker, which waits for `Store.work(_:)`.
public enum WorkKind: Sendable, CaseIterable {
    /// Jobs may be admitted.
    case jobs
    /// A batch has become due, or its due time has changed.
    case batches
    /// Deliveries can be sent.
    case deliveries
    /// A deleted session may have nothing left to settle.
    case sessions
    /// A job has a time limit that ends soon.
    case deadlines
    /// The expiry of a part has begun.
    case parts
    /// The schedule of the limits may have changed.
    case schedule
}
