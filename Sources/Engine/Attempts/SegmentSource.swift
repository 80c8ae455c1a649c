/// An address that a segment of a file can be requested from.
struct SegmentSource: Sendable, Hashable {
    /// The URL to request.
    var url: String
    /// The URL of the job that led to `url`. The job's headers and credentials are sent to the origin of this URL only.
    var home: String
}
