/// Limits the parts of all jobs that don't run.
public struct PartLimits: Sendable, Equatable {
    /// Their total size; nil: unlimited.
    public var bytes: Int64?
    /// Their number; nil: unlimited.
    public var count: Int?

    public init(bytes: Int64? = nil, count: Int? = nil) { (self.bytes, self.count) = (bytes, count) }
}
