import Descriptors

/// A finished file that is open for reading.
public struct OpenedFile: Sendable {
    public let descriptor: Descriptor
    public let size: Int64
    /// Time of the last write, in nanoseconds since 1970.
    public let modified: Int64
    /// Whether size and time are the same as when the job succeeded.
    public let isAsFinished: Bool
}
