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

/// What was measured on the way. Durations are nil when the transfer did not come that far.
public struct TransferMetrics: Sendable, Equatable {
    /// Numeric; nil when no connection was had.
    public var remoteAddress: String?

    /// As the response says: `HTTP/1.1`.
    public var protocolVersion: String?

    /// Each step on its own; next to nothing when a connection was reused.
    public var nameLookup: Duration?
    public var connect: Duration?
    /// nil without TLS.
    public var tls: Duration?

    /// From the start of the transfer.
    public var timeToFirstByte: Duration?
    public var total: Duration?

    /// Where the response redirects to, absolute. It is not followed.
    public var redirectURL: String?

    /// SocketRegistry opened; 0 when one was reused.
    public var numConnects = 0

    /// Whether the response marks the end of its body (a length, or chunks, or a status without one), so that a lost
    /// connection would have been noticed.
    public var bodyEndKnown = false

    public init() {}
}
