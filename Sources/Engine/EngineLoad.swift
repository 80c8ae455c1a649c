/// The engine's load at this moment, and the disk space left.
public struct EngineLoad: Sendable {
    /// Running attempts, and their maximum number.
    public var slotsUsed: Int
    public var slots: Int
    /// The rate of all transfers together now, and the bytes that they received since the start.
    public var bytesPerSecond: Int64
    public var bytesReceived: Int64
    /// Bytes per second in each complete interval of the last five minutes, oldest first.
    public var throughput: [Int64]
    /// The length of an interval of `throughput` in seconds.
    public let throughputInterval = ThroughputHistory.interval
    /// Space of the file system of the downloads folder; nil when the system does not report it.
    public var disk: DiskSpace?
}
