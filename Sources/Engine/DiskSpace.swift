/// Bytes of a file system.
public struct DiskSpace: Sendable, Equatable {
    /// What this service may still use.
    public var free: Int64
    public var total: Int64
}
