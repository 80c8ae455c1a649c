/// The largest size of a file, and which setting limits it.
public struct SizeLimit: Sendable, Equatable {
    public enum Source: Sendable, Equatable {
        /// `max_size` of the job.
        case job
        /// `max_total_size` of the session, of which other jobs use a part.
        case session(total: Int64)
        /// `--max-file-size`.
        case service
    }

    /// 0 or more.
    public let bytes: Int64
    public let source: Source

    public init(_ bytes: Int64, of source: Source) { (self.bytes, self.source) = (bytes, source) }

    /// The lower limit; of two equal limits the first one.
    public func lower(_ other: SizeLimit?) -> SizeLimit {
        guard let other, other.bytes < bytes else { return self }
        return other
    }

    public var failure: Failure {
        switch source {
        case .job: Failure(.tooLarge, "The file is larger than the job's max_size of \(bytes) bytes.")
        case .session(let total):
            Failure(
                .tooLarge,
                "The file is larger than the \(bytes) bytes that are left of the session's max_total_size of \(total) bytes."
            )
        case .service: Failure(.tooLarge, "The file is larger than the service's --max-file-size of \(bytes) bytes.")
        }
    }
}
