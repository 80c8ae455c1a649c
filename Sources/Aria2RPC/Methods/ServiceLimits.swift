import Downloads

/// The limits of the whole service that `aria2.changeGlobalOption` changes.
public struct ServiceLimits: Sendable {
    public struct Values: Sendable, Equatable {
        /// The largest number of running jobs.
        public var maxConcurrentJobs: Int
        /// Bytes per second of all transfers together; nil: no limit.
        public var rateLimit: Int64?

        public init(maxConcurrentJobs: Int, rateLimit: Int64?) {
            (self.maxConcurrentJobs, self.rateLimit) = (maxConcurrentJobs, rateLimit)
        }
    }

    let current: @Sendable () -> Values
    /// Stores and applies new values.
    let change: @Sendable (_ before: Values, _ after: Values, AuditNote) async throws -> Void

    public init(
        current: @escaping @Sendable () -> Values,
        change: @escaping @Sendable (_ before: Values, _ after: Values, AuditNote) async throws -> Void
    ) {
        (self.current, self.change) = (current, change)
    }
}
