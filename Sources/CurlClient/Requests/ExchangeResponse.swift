/// A small response, whole: what `exchange` returns.
public struct ExchangeResponse: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    /// The body went on beyond the limit; the transfer was ended there.
    public var bodyTruncated: Bool

    public var metrics: TransferMetrics
}
