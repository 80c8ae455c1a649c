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
