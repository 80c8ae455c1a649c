import HTTPSemantics

/// What a job's client asked for, with the session's configuration and the defaults filled in: what an attempt goes by.
public struct ResolvedSpec: Sendable, Equatable {
    public var url: String
    /// Whether another address can be tried when this one fails for good.
    public var hasMirrorLeft: Bool
    /// Other addresses of the same file, which are asked for it together with `url` where there are several connections.
    public var mirrors: [String]
    /// Connections to the file at once, at most.
    public var connections: Int
    /// To one host, of the session's transfers together; nil: the service's limit alone.
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
    /// Of all its session's transfers together.
    public var sessionRateLimit: Int64?
    public var tls: TLSRule
    public var proxy: Proxy?
    public var resumeDataTTL: Double
    public var retry: RetryPolicy
    /// Where its session puts files whose job does not say.
    public var sessionPlace: Place
    public var waitFor: [WaitFor]
    public var digest: Digest
    public var checksum: Checksum?
    /// Whether bytes may be put together that only the checksum of the whole can vouch for.
    public var restsOnChecksum: Bool
    public var expectedSize: Int64?
    public var maxSize: Int64?

    public init(_ job: Job, in configuration: SessionConfiguration) {
        let spec = job.spec
        url = job.url
        hasMirrorLeft = job.mirror < spec.mirrors.count
        mirrors = ([spec.url] + spec.mirrors).filter { $0 != job.url }
        // Pieces that were put together and wrong are asked of one server at a time.
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
        let wanted = spec.waitFor ?? configuration.waitFor ?? WaitFor.defaults
        // Nobody is asked for help as long as there is another address.
        waitFor = hasMirrorLeft ? wanted.filter { $0 == .space } : wanted
        digest = spec.digest ?? configuration.digest ?? .sha256
        checksum = spec.checksum
        restsOnChecksum = spec.checksum != nil && !job.isDisproved
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
