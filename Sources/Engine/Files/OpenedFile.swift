import Descriptors

/// A finished file that is about to be read.
public struct OpenedFile: Sendable {
    public let descriptor: Descriptor
    public let size: Int64
    /// When its bytes were last written, in nanoseconds since 1970.
    public let modified: Int64
    /// Whether nobody has written to it since the job succeeded, as far as size and time tell.
    public let isAsFinished: Bool
}
