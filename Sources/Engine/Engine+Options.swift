import Base
import Downloads
import Foundation
import Storage

extension Engine {
    public struct Options: Sendable {
        /// The limits that apply until `apply(_:)` replaces them.
        public var limits = Limits()
        /// Seconds for which a finish may stay unacknowledged before fetchd logs a warning.
        public var acknowledgementPatience: TimeInterval = 3600
        /// Seconds over which the speed is averaged that a session's `minimum_bytes_per_second` limits.
        public var minimumSpeedSeconds: TimeInterval = 60
        /// Seconds between two checkpoints: a crash loses the bytes that arrived since the last one.
        public var checkpointInterval: TimeInterval = 2
        /// The base URL that serves `rehearse:` URLs, such as `http://127.0.0.1:4711`; nil: fetchd refuses these URLs.
        public var rehearsalOrigin: String?
        /// Whether the file of a part is open only during an operation. Then a job needs one descriptor, for its connection.
        public var closesParts = false
        /// Whether the kernel keeps the errors of files that are not open.
        public static var canCloseParts: Bool { FileSystemSyncs.reportsErrors }
        /// Whether requests to the origin of a job's URL have `traceparent` and `tracestate` of the job.
        public var tracesOrigins = false

        public init() {}
    }

    /// The limits of the whole service that can change while the engine runs.
    public struct Limits: Sendable, Equatable {
        /// Maximum number of attempts that run at once; 0: no attempt begins.
        public var jobs = 16
        /// When the schedule changes the limits next; nil: never.
        public var scheduledUntil: Date?
        /// Maximum number of attempts that run at once in all services of the database together; nil: only `jobs` applies.
        public var jobsOfAllNodes: Int?
        /// Maximum number of connections to one host and port.
        public var connectionsPerHost = 6
        /// How requests to some hosts are limited.
        public var hostRules = HostRules()
        /// Maximum number of connections besides the first connection of each attempt. Each needs a descriptor.
        public var additionalConnections = Int.max
        /// Bytes per second that all transfers together may receive; nil: no limit.
        public var rate: Int64?
        /// The disk space that downloads use, and how long data is kept.
        public var storage = StorageLimits()

        public init() {}
    }

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
        services.gates.apply(limits.hostRules)
        active.limitService(to: limits.rate)
        for location in services.locations.all {
            location.folder.budget.minimumFreeBytes.withLock {
                $0 = location.minimumFreeBytes ?? limits.storage.minimumFreeBytes
            }
        }
        services.store.work(.jobs).set()
        guard limits.storage != before.storage else { return }
        services.store.work(.parts).set()
        services.journalRetention.set()
        services.finishedRetention.set()
    }

    var admissionLimits: AdmissionLimits {
        let limits = services.limits.withLock(\.self)
        var admission = AdmissionLimits(
            jobs: limits.jobs, ofAllNodes: limits.jobsOfAllNodes, connectionsPerHost: limits.connectionsPerHost)
        admission.scheduledUntil = limits.scheduledUntil
        admission.startsLeft = services.gates.startsLeft
        admission.pause = services.gates.pause
        admission.connectionsAllowed = services.gates.connectionLimit
        return admission
    }
}
