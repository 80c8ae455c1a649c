/// The engine's load at this moment, and the disk space left.
public struct EngineLoad: Sendable {
    /// Attempts under way, and how many there may be.
    public var slotsUsed: Int
    public var slots: Int
    /// What all transfers receive together, at the moment and since the start.
    public var bytesPerSecond: Int64
    public var bytesReceived: Int64
    /// Of the file system of the downloads; nil when it does not say.
    public var disk: DiskSpace?
}
