import Locks
import Storage

extension Engine {
    /// The limits of the whole service that can change while the engine runs.
    public struct Limits: Sendable, Equatable {
        /// Maximum number of attempts that run at once; 0: no attempt begins.
        public var jobs: Int
        /// Maximum number of connections to one host and port.
        public var connectionsPerHost: Int
        /// Maximum number of connections besides the first connection of each attempt.
        public var additionalConnections: Int
        /// Bytes per second that all transfers together may receive; nil: no limit.
        public var rate: Int64?

        public init(jobs: Int, connectionsPerHost: Int, additionalConnections: Int, rate: Int64?) {
            (self.jobs, self.connectionsPerHost) = (jobs, connectionsPerHost)
            (self.additionalConnections, self.rate) = (additionalConnections, rate)
        }

        init(_ options: Options) {
            self.init(
                jobs: options.maxConcurrentJobs, connectionsPerHost: options.maxConnectionsPerHost,
                additionalConnections: options.maxAdditionalConnections, rate: options.rateLimit)
        }
    }

    /// Replaces the limits. A new rate applies to running transfers at once. Attempts and connections above a lower limit
    /// continue to their ends, and none begins before there is room.
    public func apply(_ limits: Limits) {
        self.limits.withLock { $0 = limits }
        services.connections.apply(limits)
        active.limitService(to: limits.rate)
        services.store.work(.jobs).set()
    }

    var admissionLimits: AdmissionLimits {
        let limits = limits.withLock(\.self)
        return AdmissionLimits(jobs: limits.jobs, connectionsPerHost: limits.connectionsPerHost)
    }
}
