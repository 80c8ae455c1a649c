/// How a transfer ended, and what is known about it then.
public struct TransferResult: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// The response came to its end. When `metrics.bodyEndKnown` is false, that may have been a lost connection.
        case completed
        /// The handler refused the head.
        case rejected
        /// By `Transfer.cancel()`, or because the client was shut down.
        case cancelled
        case failed(TransferError)
    }

    public var outcome: Outcome

    /// The final head, if it came.
    public var head: ResponseHead?

    /// Bytes of body handed over: the sum over all chunks, however the transfer ended.
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
