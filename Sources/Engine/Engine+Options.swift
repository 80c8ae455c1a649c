import Foundation
import Storage

extension Engine {
    public struct Options: Sendable {
        /// Attempts that run at once, at most.
        public var maxConcurrentJobs = 16
        /// Connections to one host and port, at most.
        public var maxConnectionsPerHost = 6
        /// Connections beside the first one of each attempt, at most. Each needs a descriptor.
        public var maxAdditionalConnections = Int.max
        /// Seconds a finish may stay unacknowledged before the log says so.
        public var acknowledgementPatience: TimeInterval = 3600
        /// Bytes that the parts of all jobs that do not run may have together; nil: any number.
        public var maxResumeDataBytes: Int64?
        /// Bytes a second that all transfers together may receive; nil: any number.
        public var rateLimit: Int64?
        /// Seconds over which a session's `minimum_bytes_per_second` is judged.
        public var minimumSpeedSeconds: TimeInterval = 60
        /// The base URL that `rehearse:` URLs are fetched from, such as `http://127.0.0.1:4711`; nil: they are refused.
        public var rehearsalOrigin: String?
        /// How long the journal keeps events.
        public var retention = Retention()
        /// How often the background workers run.
        public var intervals = Intervals()

        public init() {}
    }
}
