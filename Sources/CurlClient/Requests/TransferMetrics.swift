/// Measurements of a transfer. Durations are nil if the transfer did not reach the step.
public struct TransferMetrics: Sendable, Equatable {
    /// The numeric address of the peer; nil if no connection was established.
    public var remoteAddress: String?

    /// The version in the response: `HTTP/1.1`.
    public var protocolVersion: String?

    /// The duration of each step. Almost zero if a connection was reused.
    public var nameLookup: Duration?
    public var connect: Duration?
    /// The duration of the TLS handshake; nil without TLS.
    public var tls: Duration?

    /// Both from the start of the transfer.
    public var timeToFirstByte: Duration?
    public var total: Duration?

    /// The absolute target of a redirect, which the client does not follow.
    public var redirectURL: String?

    /// The number of opened connections; 0 if one was reused.
    public var numConnects = 0

    /// Whether the response marks the end of its body (with a length, with chunks, or by a status without a body), so
    /// that a lost connection is detected.
    public var bodyEndKnown = false

    public init() {}
}
