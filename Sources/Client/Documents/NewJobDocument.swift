/// A job to create. Members that are nil are left out, so that the service uses its defaults.
struct NewJobDocument: Encodable, Sendable {
    var url: String?
    /// The URLs of one file, if it has mirrors.
    var urls: [String]?
    var session: String?
    var headers: [String: String]?
    var destination: NewDestination?
    var priority: String?
    var connections: Int?
    var rateLimitBytesPerSecond: Int64?
    var checksum: NewChecksum?
    var decode: Bool?
    var notBefore: String?
    var deadline: String?
    var waitFor: [String]?
    var tags: [String]?
}

struct NewJobsDocument: Encodable, Sendable {
    var jobs: [NewJobDocument]
}
