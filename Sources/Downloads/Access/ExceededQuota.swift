/// The quota of a token that a request would exceed.
public enum ExceededQuota: Sendable, Equatable {
    /// - Parameters:
    ///   - left: the number of jobs that the token may still create.
    ///   - requested: the number of jobs in the request.
    case outstandingJobs(limit: Int, left: Int, requested: Int)
    /// - Parameter seconds: until the next day (UTC).
    case bytesPerDay(limit: Int64, seconds: Int)
    /// - Parameter seconds: until the next request is allowed.
    case requestsPerSecond(limit: Int, seconds: Double)
}
