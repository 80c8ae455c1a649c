/// The complete response that `exchange` returns.
public struct ExchangeResponse: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    /// The body was longer than the limit, and the transfer was ended there.
    public var bodyTruncated: Bool

    public var metrics: TransferMetrics
}
