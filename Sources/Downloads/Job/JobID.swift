import Formats

/// A job's identifier: `job_` and a ULID. Identifiers sort in the order in which jobs were created.
public struct JobID: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> JobID { JobID("job_\(ulid)") }
    public var description: String { text }
}
