/// Space of a file system, in bytes.
public struct DiskSpace: Sendable, Equatable {
    /// Free bytes that fetchd may still use.
    public var free: Int64
    public var total: Int64
}
