/// The largest size of a file, and who set it.
public struct SizeLimit: Sendable, Equatable {
    public enum Source: Sendable {
        case job, service
    }

    /// In bytes.
    public let bytes: Int64
    public let source: Source

    /// The lower of both limits; nil if there is none.
    ///
    /// - Parameters:
    ///   - job: `max_size` of the job.
    ///   - service: `--max-file-size`.
    public init?(job: Int64?, service: Int64?) {
        switch (job, service) {
        case (let job?, let service?) where job <= service: (bytes, source) = (job, .job)
        case (_, let service?): (bytes, source) = (service, .service)
        case (let job?, nil): (bytes, source) = (job, .job)
        case (nil, nil): return nil
        }
    }

    public var failure: Failure {
        switch source {
        case .job: Failure(.tooLarge, "The file is larger than the job's max_size of \(bytes) bytes.")
        case .service: Failure(.tooLarge, "The file is larger than the service's --max-file-size of \(bytes) bytes.")
        }
    }
}
