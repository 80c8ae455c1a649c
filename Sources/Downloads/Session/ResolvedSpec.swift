import HTTPSemantics

/// The specification that an attempt uses: that of the job, completed with the session's configuration and the
/// defaults.
public struct ResolvedSpec: Sendable, Equatable {
    public var url: String
    /// Whether fetchd can try another URL if this one fails permanently.
    public var hasMirrorLeft: Bool
    /// Other URLs of the same file. With several connections, fetchd uses them together with `url`.
    public var mirrors: [String]
    /// The maximum number of connections to the file.
    public var connections: Int
    /// The maximum number of connections to one host, for all transfers of the session together; nil: only the
    /// service's limit applies.
    public var maxConnectionsPerHost: Int?
    public var method: RequestMethod
    public var body: RequestBody?
    public var headers: [HeaderField]
    public var credentials: Credentials?
    public var userAgent: String
    public var requestSeconds: Double
    public var connectSeconds: Double
    public var resourceSeconds: Double
    public var minimumSpeed: Int64?
    /// In bytes per second, for all transfers of the session together.
    public var sessionRateLimit: Int64?
    public var tls: TLSRule
    public var proxy: Proxy?
    public var resumeDataTTL: Double
    public var retry: RetryPolicy
    /// The place for files whose job does not specify one.
    public var sessionPlace: Place
    /// The problems that the job waits out instead of failing: see ``waitFor(after:)``.
    public var waitFor: [WaitFor]
    public var digest: Digest
    /// Whether a body that the server has coded is decoded while it is written.
    public var decodes: Bool
    public var checksum: Checksum?
    /// Whether bytes may be combined that only the checksum of the whole file can verify.
    public var restsOnChecksum: Bool
    public var expectedSize: Int64?
    public var sizeLimit: SizeLimit?
    /// The members of the job whose secrets are lost with their key.
    public var lost: Set<SecretMember>
    /// The same for the members of the session that the job uses.
    public var lostBySession: Set<SecretMember>

    public init(_ job: Job, in configuration: SessionConfiguration) {
        let spec = job.spec
        url = job.url
        hasMirrorLeft = job.mirror < spec.mirrors.count
        mirrors = ([spec.url] + spec.mirrors).filter { $0 != job.url }
        // Combined bytes of this job were wrong, so fetchd now uses only one server at a time.
        connections = job.isDisproved ? 1 : spec.connections ?? configuration.connections ?? 1
        maxConnectionsPerHost = configuration.maxConnectionsPerHost
        method = spec.method
        body = spec.body
        credentials = spec.credentials
        headers = Self.merge(configuration.headers, spec.headers)
        userAgent = configuration.userAgent ?? SessionConfiguration.defaultUserAgent
        requestSeconds = Self.first(spec.timeouts, configuration.timeouts, \.requestSeconds)
        connectSeconds = Self.first(spec.timeouts, configuration.timeouts, \.connectSeconds)
        resourceSeconds = Self.first(spec.timeouts, configuration.timeouts, \.resourceSeconds)
        minimumSpeed = configuration.minimumSpeed
        sessionRateLimit = configuration.rateLimit
        tls = configuration.tls
        proxy = configuration.proxy
        resumeDataTTL = configuration.resumeDataTTL ?? SessionConfiguration.defaultResumeDataTTL
        retry = spec.retry ?? configuration.retry ?? RetryPolicy()
        sessionPlace = Place(
            directory: configuration.directory ?? "", filename: nil, conflict: configuration.onConflict ?? .rename,
            createDirectories: true)
        waitFor = spec.waitFor ?? configuration.waitFor ?? WaitFor.defaults
        digest = spec.digest ?? configuration.digest ?? .sha256
        decodes = spec.decodes ?? configuration.decodes ?? false
        checksum = spec.checksum
        restsOnChecksum = spec.checksum != nil && !job.isDisproved
        expectedSize = spec.expectedSize
        sizeLimit = spec.maxSize.map { SizeLimit($0, of: .job) }
        lost = spec.lost
        lostBySession = configuration.lost
    }

    /// The same specification, with the lower one of both limits.
    public func limited(to limit: SizeLimit?) -> ResolvedSpec {
        var limited = self
        limited.sizeLimit = sizeLimit?.lower(limit) ?? limit
        return limited
    }

    /// The conditions for which the job waits after a failure. It waits for another URL, or for credentials for its URL,
    /// only if it has no other URL left. A job whose secrets are lost waits for them in any case.
    public func waitFor(after failure: Failure) -> [WaitFor] {
        if lossOfSecrets != nil { return [.credentials] }
        return hasMirrorLeft && failure.isOfSource ? waitFor.filter { $0 == .space } : waitFor
    }

    /// The job's headers replace the session's headers of the same name. Names are compared without case, as in HTTP.
    private static func merge(_ session: [HeaderField], _ job: [HeaderField]) -> [HeaderField] {
        let taken = Set(job.map { $0.name.lowercased() })
        return session.filter { !taken.contains($0.name.lowercased()) } + job
    }

    private static func first(_ job: Timeouts, _ session: Timeouts, _ path: KeyPath<Timeouts, Double?>) -> Double {
        job[keyPath: path] ?? session[keyPath: path] ?? Timeouts.defaults[keyPath: path] ?? 0
    }
}
