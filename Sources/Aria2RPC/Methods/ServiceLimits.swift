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

    /// New values of the limits that a client has named; nil: the limit stays.
    public struct Change: Sendable, Equatable {
        public var maxConcurrentJobs: Int?
        /// 0: no limit.
        public var rateLimit: Int64?

        public init(maxConcurrentJobs: Int? = nil, rateLimit: Int64? = nil) {
            (self.maxConcurrentJobs, self.rateLimit) = (maxConcurrentJobs, rateLimit)
        }
    }

    let current: @Sendable () -> Values
    /// Stores and applies new values, also those that apply at present: only a stored value holds after a restart, and
    /// another client may change the present one at any moment.
    let change: @Sendable (Change, AuditNote) async throws -> Void

    public init(
        current: @escaping @Sendable () -> Values,
        change: @escaping @Sendable (Change, AuditNote) async throws -> Void
    ) {
        (self.current, self.change) = (current, change)
    }
}
