import Descriptors

/// A finished file that is about to be read.
public struct OpenedFile: Sendable {
    public let descriptor: Descriptor
    public let size: Int64
    /// When its bytes were last written, in nanoseconds since 1970.
    public let modified: Int64
    /// Whether the file is unchanged since the job succeeded, by its size and time.
    public let isAsFinished: Bool
}
