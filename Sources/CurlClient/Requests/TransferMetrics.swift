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
