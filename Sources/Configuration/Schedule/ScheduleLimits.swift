/// The limits that a rule sets, or that the rules of a schedule set together.
public struct ScheduleLimits: Sendable, Equatable {
    /// Bytes per second of all transfers together. 0: no limit. nil: the schedule does not say.
    public var rateLimit: Int64?
    /// 0 to 10,000. 0: no job begins. nil: the schedule does not say.
    public var maxConcurrentJobs: Int?

    public init(rateLimit: Int64? = nil, maxConcurrentJobs: Int? = nil) {
        (self.rateLimit, self.maxConcurrentJobs) = (rateLimit, maxConcurrentJobs)
    }

    /// Takes those limits of another rule that no earlier rule has set.
    mutating func fill(from other: ScheduleLimits) {
        rateLimit = rateLimit ?? other.rateLimit
        maxConcurrentJobs = maxConcurrentJobs ?? other.maxConcurrentJobs
    }
}
