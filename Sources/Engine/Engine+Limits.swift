import Locks
import Storage

extension Engine {
    /// The limits of the whole service that can change while the engine runs.
    public struct Limits: Sendable, Equatable {
        /// Maximum number of attempts that run at once; 0: no attempt begins.
        public var jobs: Int
        /// Maximum number of attempts that run at once on all nodes of the database together; nil: only the limit of each node
        /// applies.
        public var jobsOfAllNodes: Int?
        /// Maximum number of connections to one host and port.
        public var connectionsPerHost: Int
        /// Maximum number of connections besides the first connection of each attempt.
        public var additionalConnections: Int
        /// Bytes per second that all transfers together may receive; nil: no limit.
        public var rate: Int64?
        /// The disk space that downloads use, and how long data is kept.
        public var storage: StorageLimits

        public init(
            jobs: Int, jobsOfAllNodes: Int? = nil, connectionsPerHost: Int, additionalConnections: Int, rate: Int64?,
            storage: StorageLimits = StorageLimits()
        ) {
            (self.jobs, self.connectionsPerHost) = (jobs, connectionsPerHost)
            self.jobsOfAllNodes = jobsOfAllNodes
            (self.additionalConnections, self.rate) = (additionalConnections, rate)
            self.storage = storage
        }

        init(_ options: Options) {
            self.init(
                jobs: options.maxConcurrentJobs, connectionsPerHost: options.maxConnectionsPerHost,
                additionalConnections: options.maxAdditionalConnections, rate: options.rateLimit,
                storage: StorageLimits(options))
        }
    }

    /// Replaces the limits. A new rate applies to running transfers at once. Attempts and connections above a lower limit
    /// continue to their ends, and none begins before there is room. A new size of files applies to attempts that begin.
    /// Data that is kept too long by a shorter retention, and bytes above a lower limit, are removed soon.
    public func apply(_ limits: Limits) {
        let before = services.limits.withLock { current in
            defer { current = limits }
            return current
        }
        services.connections.apply(limits)
        active.limitService(to: limits.rate)
        services.folder.budget.floor = .init(limits.storage.minimumFreeBytes)
        services.store.work(.jobs).set()
        guard limits.storage != before.storage else { return }
        services.store.work(.parts).set()
        services.journalRetention.set()
        services.finishedRetention.set()
    }

    var admissionLimits: AdmissionLimits {
        let limits = services.limits.withLock(\.self)
        return AdmissionLimits(
            jobs: limits.jobs, ofAllNodes: limits.jobsOfAllNodes, connectionsPerHost: limits.connectionsPerHost)
    }
}
