/// Limits of what the holder of a token uses; nil: no limit.
public struct TokenQuotas: Sendable, Equatable, Codable {
    /// Jobs that the token has created and that have not ended.
    public var outstandingJobs: Int?
    /// Bytes that its jobs receive on a day (UTC). Jobs that run when it is reached continue to their end.
    public var bytesPerDay: Int64?
    /// Its jobs that run at the same time. Others wait in the queue.
    public var concurrentTransfers: Int?
    public var requestsPerSecond: Int?

    public init(
        outstandingJobs: Int? = nil, bytesPerDay: Int64? = nil, concurrentTransfers: Int? = nil,
        requestsPerSecond: Int? = nil
    ) {
        self.outstandingJobs = outstandingJobs
        self.bytesPerDay = bytesPerDay
        self.concurrentTransfers = concurrentTransfers
        self.requestsPerSecond = requestsPerSecond
    }

    public static let none = TokenQuotas()

    /// Whether jobs of the token may have to wait for their start.
    public var limitsTransfers: Bool { bytesPerDay != nil || concurrentTransfers != nil }
}
