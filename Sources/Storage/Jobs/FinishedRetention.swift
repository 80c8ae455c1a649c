import Foundation

/// How long jobs are kept after their end, in seconds.
public struct FinishedRetention: Sendable, Equatable {
    /// For jobs of batches whose finish is acknowledged, or needs no acknowledgement.
    public var acknowledged: TimeInterval
    /// For all other jobs: a consumer may still come to ask for them.
    public var unacknowledged: TimeInterval
    /// Whether the finished files are removed, too.
    public var deletesFiles: Bool

    public init(acknowledged: TimeInterval, unacknowledged: TimeInterval, deletesFiles: Bool = false) {
        self.acknowledged = acknowledged
        self.unacknowledged = max(acknowledged, unacknowledged)
        self.deletesFiles = deletesFiles
    }
}
