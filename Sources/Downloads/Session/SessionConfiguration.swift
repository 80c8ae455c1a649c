/// What the jobs of a session have in common. Every member is optional; `defaults` fills in the rest.
public struct SessionConfiguration: Sendable, Equatable, Codable {
    public var headers: [HeaderField] = []
    public var userAgent: String?
    public var timeouts = Timeouts()
    /// Never more transfers than this at once, a slot held from start to end; nil: the service's limit alone.
    public var maxConcurrentJobs: Int?
    /// The smaller of this and the service's limit holds.
    public var maxConnectionsPerHost: Int?
    public var retry: RetryPolicy?
    /// Below the downloads root.
    public var directory: String?
    public var onConflict: Destination.Conflict?
    public var waitFor: [WaitFor]?
    public var digest: Digest?
    public var priority: Priority?
    /// Seconds between the last job's end and `session.finished`: a loop of single submissions is one batch.
    public var finishDelaySeconds: Double?
    public var metadata = Metadata()

    public init() {}

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        headers = try stored.decode(.headers, default: [])
        userAgent = try stored.decodeIfPresent(String.self, forKey: .userAgent)
        timeouts = try stored.decode(.timeouts, default: Timeouts())
        maxConcurrentJobs = try stored.decodeIfPresent(Int.self, forKey: .maxConcurrentJobs)
        maxConnectionsPerHost = try stored.decodeIfPresent(Int.self, forKey: .maxConnectionsPerHost)
        retry = try stored.decodeIfPresent(RetryPolicy.self, forKey: .retry)
        directory = try stored.decodeIfPresent(String.self, forKey: .directory)
        onConflict = try stored.decodeIfPresent(Destination.Conflict.self, forKey: .onConflict)
        waitFor = try stored.decodeIfPresent([WaitFor].self, forKey: .waitFor)
        digest = try stored.decodeIfPresent(Digest.self, forKey: .digest)
        priority = try stored.decodeIfPresent(Priority.self, forKey: .priority)
        finishDelaySeconds = try stored.decodeIfPresent(Double.self, forKey: .finishDelaySeconds)
        metadata = try stored.decode(.metadata, default: Metadata())
    }

    public static let defaultFinishDelaySeconds = 1.0
    public static let defaultUserAgent = "fetchd"
}

/// What a job's client asked for, with the session's configuration and the defaults filled in: what an attempt goes by.
public struct ResolvedSpec: Sendable, Equatable {
    public var url: String
    public var headers: [HeaderField]
    public var userAgent: String
    public var requestSeconds: Double
    public var connectSeconds: Double
    public var retry: RetryPolicy
    public var directory: String
    public var filename: String?
    public var conflict: Destination.Conflict
    public var createDirectories: Bool
    public var waitFor: [WaitFor]
    public var digest: Digest
    public var expectedSize: Int64?
    public var maxSize: Int64?

    public init(_ spec: JobSpec, in configuration: SessionConfiguration) {
        url = spec.url
        headers = Self.merge(configuration.headers, spec.headers)
        userAgent = configuration.userAgent ?? SessionConfiguration.defaultUserAgent
        requestSeconds = Self.first(spec.timeouts, configuration.timeouts, \.requestSeconds)
        connectSeconds = Self.first(spec.timeouts, configuration.timeouts, \.connectSeconds)
        retry = spec.retry ?? configuration.retry ?? RetryPolicy()
        directory = spec.destination.directory ?? configuration.directory ?? ""
        filename = spec.destination.filename
        conflict = spec.destination.onConflict ?? configuration.onConflict ?? .rename
        createDirectories = spec.destination.createDirectories
        waitFor = spec.waitFor ?? configuration.waitFor ?? WaitFor.defaults
        digest = spec.digest ?? configuration.digest ?? .sha256
        expectedSize = spec.expectedSize
        maxSize = spec.maxSize
    }

    /// The job's headers win over the session's of the same name; names are compared as HTTP does, without case.
    private static func merge(_ session: [HeaderField], _ job: [HeaderField]) -> [HeaderField] {
        let taken = Set(job.map { $0.name.lowercased() })
        return session.filter { !taken.contains($0.name.lowercased()) } + job
    }

    private static func first(_ job: Timeouts, _ session: Timeouts, _ path: KeyPath<Timeouts, Double?>) -> Double {
        job[keyPath: path] ?? session[keyPath: path] ?? Timeouts.defaults[keyPath: path] ?? 0
    }
}
