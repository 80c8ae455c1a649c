import Storage

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
