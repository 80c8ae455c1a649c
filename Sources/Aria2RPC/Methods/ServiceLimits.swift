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
    let change: @Sendable (Values) async throws -> Void

    /// Limits that cannot be changed.
    public static func fixed(_ values: Values) -> ServiceLimits {
        ServiceLimits(current: { values }) { _ in
            throw RPCError("The limits of the service are set when it starts.")
        }
    }

    public init(
        current: @escaping @Sendable () -> Values, change: @escaping @Sendable (Values) async throws -> Void
    ) {
        (self.current, self.change) = (current, change)
    }
}
