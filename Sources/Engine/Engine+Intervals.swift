import Foundation

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
