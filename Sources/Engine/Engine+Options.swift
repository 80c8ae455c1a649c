import Base
import Foundation
import Storage

extension Engine {
    public struct Options: Sendable {
        /// Maximum number of attempts that run at once.
        public var maxConcurrentJobs = 16
        /// Maximum number of connections to one host and port.
        public var maxConnectionsPerHost = 6
        /// Maximum number of connections besides the first connection of each attempt. Each needs a descriptor.
        public var maxAdditionalConnections = Int.max
        /// Seconds for which a finish may stay unacknowledged before fetchd logs a warning.
        public var acknowledgementPatience: TimeInterval = 3600
        /// Bytes that downloads leave free on their file system; nil: 1 % of it, at most 1 GiB.
        public var minimumFreeBytes: Int64?
        /// Bytes that the parts of all jobs that do not run may occupy together; nil: no limit.
        public var maxResumeDataBytes: Int64?
        /// The number of parts that all jobs that do not run may have together; nil: no limit.
        public var maxParts: Int?
        /// Bytes. A larger file fails its job with `too_large`; nil: no limit.
        public var maxFileSize: Int64?
        /// Bytes per second that all transfers together may receive; nil: no limit.
        public var rateLimit: Int64?
        /// Seconds over which the speed is averaged that a session's `minimum_bytes_per_second` limits.
        public var minimumSpeedSeconds: TimeInterval = 60
        /// The base URL that serves `rehearse:` URLs, such as `http://127.0.0.1:4711`; nil: fetchd refuses these URLs.
        public var rehearsalOrigin: String?
        /// Whether requests to the origin of a job's URL have `traceparent` and `tracestate` of the job.
        public var tracesOrigins = false
        /// How long the journal keeps events.
        public var retention = Retention()
        /// How long jobs are kept after their end; nil: for ever.
        public var finishedRetention: FinishedRetention?
        /// How often the background workers run.
        public var intervals = Intervals()

        public init() {}
    }
}

extension Engine {
    /// How often the background workers run, and how long they wait after a failure, in seconds.
    public struct Intervals: Sendable {
        /// Between two checkpoints: a crash loses the bytes that arrived since the last one.
        public var checkpoint: TimeInterval = 2
        /// Between two inspections of a downloads folder that works.
        public var folderInspection: TimeInterval = 10
        /// Between two inspections of a downloads folder that does not work.
        public var folderRecovery: TimeInterval = 1
        /// Between two searches for unacknowledged finishes, at least.
        public var acknowledgementCheck: TimeInterval = 1
        /// Between two comparisons of the running jobs of this node with its attempts.
        public var attemptComparison: TimeInterval = 10
        /// Between two comparisons of the wall clock with the monotonic clock.
        public var clockCheck: TimeInterval = 1
        /// Between two prunings of the journal; nil: a tenth of `Retention.acknowledged`, at least 1 second, at most 1
        /// hour.
        public var pruning: TimeInterval?
        /// Between two removals of finished jobs; nil: a tenth of the retention, at least 1 second, at most 1 hour.
        public var finishedPruning: TimeInterval?
        /// Between two looks at the free space of the database file.
        public var spaceCheck: TimeInterval = 3600
        /// Between two comparisons of the kept counts with a full count.
        public var countCheck: TimeInterval = 3600
        /// Between two searches for tables that have grown.
        public var analysis: TimeInterval = 15
        /// Between two commits of the times when tokens were last used.
        public var tokenUse: TimeInterval = 60
        /// Between two commits of refused requests.
        public var refusals: TimeInterval = 60
        /// Between a failed pass of a background worker and its next pass.
        public var maintenanceRetry: TimeInterval = 1
        /// Between two tries to store a change when the disk fails, while the engine runs.
        public var writeRetry: TimeInterval = 1
        /// Between two tries to store a change when the disk fails, while the engine stops.
        public var writeRetryWhileStopping: TimeInterval = 0.2
        /// After `stop()`: how long the engine still repeats a failed write.
        public var stopGrace: TimeInterval = 2

        public init() {}
    }
}

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
            self.jobs = jobs
            self.connectionsPerHost = connectionsPerHost
            self.jobsOfAllNodes = jobsOfAllNodes
            self.additionalConnections = additionalConnections
            self.rate = rate
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

extension Engine {
    /// The disk space that downloads use, and how long the service keeps data.
    public struct StorageLimits: Sendable, Equatable {
        /// Bytes that downloads leave free on their file system; nil: 1 % of it, at most 1 GiB.
        public var minimumFreeBytes: Int64?
        /// Bytes. A larger file fails its job with `too_large`; nil: no limit.
        public var maxFileSize: Int64?
        /// Bytes that the parts of all jobs that do not run may occupy together; nil: no limit.
        public var maxResumeDataBytes: Int64?
        /// The number of parts that all jobs that do not run may have together; nil: no limit.
        public var maxParts: Int?
        /// How long the journal keeps events.
        public var retention = Retention()
        /// How long jobs are kept after their end; nil: for ever.
        public var finishedRetention: FinishedRetention?

        public init() {}

        init(_ options: Options) {
            minimumFreeBytes = options.minimumFreeBytes
            maxFileSize = options.maxFileSize
            maxResumeDataBytes = options.maxResumeDataBytes
            maxParts = options.maxParts
            retention = options.retention
            finishedRetention = options.finishedRetention
        }
    }
}
