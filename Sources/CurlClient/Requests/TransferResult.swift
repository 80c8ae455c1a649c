/// The result of a transfer.
public struct TransferResult: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// The response is complete. If `metrics.bodyEndKnown` is false, the end may also be a lost connection.
        case completed
        /// The handler rejected the head.
        case rejected
        /// `Transfer.cancel()` was called, or the client was shut down.
        case cancelled
        case failed(TransferError)
    }

    public var outcome: Outcome

    /// The final head, if it arrived.
    public var head: ResponseHead?

    /// The number of body bytes in all delivered chunks, for every outcome.
    public var bytesReceived: Int64

    public var metrics: TransferMetrics

    public init(
        outcome: Outcome, head: ResponseHead? = nil, bytesReceived: Int64 = 0, metrics: TransferMetrics = .init()
    ) {
        self.outcome = outcome
        self.head = head
        self.bytesReceived = bytesReceived
        self.metrics = metrics
    }

    static func neverStarted(_ outcome: Outcome) -> TransferResult {
        TransferResult(outcome: outcome)
    }
}
