import HTTPSemantics

/// The specification that an attempt uses: that of the job, completed with the session's configuration and the defaults.
public struct ResolvedSpec: Sendable, Equatable {
    public var url: String
    /// The URL of the job whose origin gets the headers and the credentials: `url`, if a client has given that.
    public var home: String
    /// Whether fetchd can try another URL if this one fails permanently.
    public var hasMirrorLeft: Bool
    /// Other URLs of the same file. With several connections, fetchd uses them together with `url`.
    public var mirrors: [String]
    /// Mirrors that the server of the job has named. They get no headers and no credentials, unless they are at the origin of `home`.
    public var discovered: [String]
    public var connections: Int
    /// The maximum number of connections to one host, for all transfers of the session together; nil: only the
    /// service's limit applies.
    public var maxConnectionsPerHost: Int?
    /// How requests to some hosts are limited, for all transfers of the session together.
    public var hostRules: HostRules
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
    public var sessionDestination: DestinationRule
    /// The problems that the job waits out instead of failing: see ``waitFor(after:)``.
    public var waitFor: [WaitFor]
    public var digest: Digest
    /// Whether a body that the server has coded is decoded while it is written.
    public var decodes: Bool
    public var resumePolicy: ResumePolicy
    public var checksum: ExpectedChecksum?
    public var pieces: PieceDigests?
    /// Whether bytes may be combined that only the checksum of the whole file can verify.
    public var restsOnChecksum: Bool
    public var expectedSize: Int64?
    public var sizeLimit: SizeLimit?
    /// The members of the job whose secrets are lost with their key.
    public var lost: Set<SecretMember>
    /// The members of the session that the job uses and whose secrets are lost with their key.
    public var lostBySession: Set<SecretMember>

    public init(_ job: Job, in configuration: SessionConfiguration) {
        let spec = job.spec
        url = job.url
        (home, hasMirrorLeft, discovered, restsOnChecksum) = (job.url, false, [], false)
        mirrors = ([spec.url] + spec.mirrors).filter { $0 != job.url }
        // Combined bytes of this job were wrong, so fetchd now uses only one server at a time.
        connections = job.isCorrupt ? 1 : spec.connections ?? configuration.connections ?? 1
        maxConnectionsPerHost = configuration.maxConnectionsPerHost
        hostRules = configuration.hostRules
        method = spec.method
        body = spec.body
        credentials = spec.credentials
        headers = Self.merge(configuration.headers, spec.headers)
        userAgent = configuration.userAgent ?? SessionConfiguration.defaultUserAgent
        requestSeconds = Self.time(\.requestSeconds, of: spec.timeouts, or: configuration.timeouts)
        connectSeconds = Self.time(\.connectSeconds, of: spec.timeouts, or: configuration.timeouts)
        resourceSeconds = Self.time(\.resourceSeconds, of: spec.timeouts, or: configuration.timeouts)
        minimumSpeed = configuration.minimumSpeed
        sessionRateLimit = configuration.rateLimit
        tls = configuration.tls
        proxy = configuration.proxy
        resumeDataTTL = configuration.resumeDataTTL ?? SessionConfiguration.defaultResumeDataTTL
        retry = spec.retry ?? configuration.retry ?? RetryPolicy()
        sessionDestination = DestinationRule(
            location: configuration.location ?? .default, directory: configuration.directory ?? "", filename: nil,
            conflict: configuration.onConflict ?? .rename,
            createDirectories: true)
        waitFor = spec.waitFor ?? configuration.waitFor ?? WaitFor.defaults
        digest = spec.digest ?? configuration.digest ?? .sha256
        decodes = spec.decodes ?? configuration.decodes ?? false
        resumePolicy = spec.resumePolicy ?? configuration.resumePolicy ?? .strict
        expectedSize = spec.expectedSize
        sizeLimit = spec.maxSize.map { SizeLimit($0, of: .job) }
        lost = spec.lost
        lostBySession = configuration.lost
        discover(in: job)
    }

    /// The specification of an attempt that has discovered other sources.
    public func adding(_ discovery: Discovery, to job: Job) -> ResolvedSpec {
        var (spec, job) = (self, job)
        job.spec.discovery = discovery
        spec.discover(in: job)
        return spec
    }

    private mutating func discover(in job: Job) {
        let spec = job.spec
        home = spec.isGiven(job.url) ? job.url : spec.url
        hasMirrorLeft = job.mirror < spec.alternatives.count
        discovered = (spec.discovery?.mirrors ?? []).filter { $0 != job.url }
        checksum = spec.checksum ?? spec.discovery?.checksum.map(ExpectedChecksum.value)
        pieces = spec.pieces ?? spec.discovery?.pieces
        // The wrong pieces of a corrupt job were removed.
        restsOnChecksum = pieces != nil || checksum != nil && !job.isCorrupt
    }

    /// The connections to a host that all transfers of the session may have together; nil: only the service's limit applies.
    public func maxConnections(at host: String) -> Int? {
        [maxConnectionsPerHost, hostRules[host]?.connections].compactMap(\.self).min()
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
        if missingSecrets != nil { return [.credentials] }
        return hasMirrorLeft && failure.isOfSource ? waitFor.filter { $0 == .space } : waitFor
    }

    /// The job's headers replace the session's headers of the same name. Names are compared without case, as in HTTP.
    private static func merge(_ session: [HeaderField], _ job: [HeaderField]) -> [HeaderField] {
        let taken = Set(job.map { $0.name.lowercased() })
        return session.filter { !taken.contains($0.name.lowercased()) } + job
    }

    private static func time(_ path: KeyPath<Timeouts, Double?>, of job: Timeouts, or session: Timeouts) -> Double {
        job[keyPath: path] ?? session[keyPath: path] ?? Timeouts.defaults[keyPath: path] ?? 0
    }
}

/// The digests that a file must match, and the conditions for continuing its bytes.
extension ResolvedSpec {
    /// Whether the next attempt may continue bytes with these validators: if they are strong, or if the job's checksum
    /// verifies the whole file. Only GET defines ranges (RFC 9110, section 14.2). Coded bytes are not continued,
    /// because another response may have another coding. By evidence, a tag or a date is enough to begin with.
    public func canContinue(_ validators: Validators) -> Bool {
        let isStated = validators.etag != nil || validators.lastModified != nil
        let canCompare = restsOnChecksum || resumePolicy == .evidence && isStated
        return method == .get && (validators.strong != nil || canCompare && !validators.isEncoded)
    }

    public func claims(_ label: FileLabel) -> [DigestClaim] {
        (checksum?.value.map { [DigestClaim(.client, $0)] } ?? []) + label.digests
    }

    /// The digests that fetchd computes: for the receipt, and to verify the bytes.
    public func algorithms(_ label: FileLabel) -> Set<Checksum.Algorithm> {
        Set(claims(label).map(\.checksum.algorithm)).union(digest == .sha256 ? [.sha256] : [])
    }
}

/// An attempt of a job whose secrets are lost ends before its first request.
extension ResolvedSpec {
    /// Why the job must wait for its secrets; nil if it has all of them.
    public var missingSecrets: Failure? {
        guard !lost.isEmpty || !lostBySession.isEmpty else { return nil }
        var sentences = ["The key that sealed the secrets of this job is lost."]
        let patchable = lost.subtracting([.body, .checksum])
        if !patchable.isEmpty { sentences.append("Supply them with PATCH: \(patchable.listed).") }
        if lost.contains(.body) || lost.contains(.checksum) {
            let what = lost.contains(.body) ? "Its request body is" : "The addresses of its checksum are"
            sentences.append("\(what) lost, too: cancel the job and create it again.")
        }
        if !lostBySession.isEmpty { sentences.append("Supply those of its session with PUT: \(lostBySession.listed).") }
        return Failure(.credentialsRequired, sentences.joined(separator: " "))
    }
}

/// Clients can change a job and its session while an attempt runs.
extension ResolvedSpec {
    /// Whether an attempt with the other specification sends the same requests, and its failure has the same
    /// consequence. If so, the end of an attempt with one of them also holds for the other.
    public func endsLike(_ other: ResolvedSpec) -> Bool {
        asksLike(other) && waitFor == other.waitFor && retry == other.retry && lost == other.lost
            && lostBySession == other.lostBySession
    }

    private func asksLike(_ other: ResolvedSpec) -> Bool {
        let isSameSource =
            url == other.url && mirrors == other.mirrors && discovered == other.discovered && proxy == other.proxy
            && tls == other.tls
        return isSameSource && headers == other.headers && credentials == other.credentials
            && userAgent == other.userAgent
    }
}

/// The destination of a file, with the session's defaults applied. Only the file name may still depend on the response.
public struct DestinationRule: Sendable, Equatable {
    public var location: Name
    /// Relative to the folder of the location; empty is the root itself.
    public var directory: String
    /// A name or a template; nil: the name that the response suggests.
    public var filename: String?
    public var conflict: Destination.Conflict
    public var createDirectories: Bool
    public var staging = Destination.Staging.auto

    /// The place that a job specifies. This place supplies the members that the job leaves out.
    public func specified(by destination: Destination) -> DestinationRule {
        DestinationRule(
            location: destination.location ?? location, directory: destination.directory ?? directory,
            filename: destination.filename ?? filename, conflict: destination.onConflict ?? conflict,
            createDirectories: destination.createDirectories, staging: destination.staging ?? .auto)
    }
}

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

    public init(_ bytes: Int64, of source: Source) {
        self.bytes = bytes
        self.source = source
    }

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

extension DigestClaim {
    /// - Parameter digests: the digests of the whole file, in lowercase hexadecimal.
    /// - Returns: the failure; nil if the bytes match the claim.
    public func refutation(by digests: [Checksum.Algorithm: String]) -> Failure? {
        let found = digests[checksum.algorithm]
        guard found != checksum.value else { return nil }
        let algorithm = checksum.algorithm.rawValue
        return Failure(
            .checksumMismatch,
            "The \(algorithm) of the bytes is \(found ?? "unknown"); \(claimant.name) says \(checksum.value).")
    }
}

extension [DigestClaim] {
    /// The failure of the first claim that the bytes do not match; nil if they match all claims.
    public func refutation(by digests: [Checksum.Algorithm: String]) -> Failure? {
        lazy.compactMap { $0.refutation(by: digests) }.first
    }
}

extension DigestClaim.Claimant {
    fileprivate var name: String {
        switch self {
        case .client: "the job's checksum"
        case .checksumFile: "the checksum file"
        default: "the server's \(rawValue)"
        }
    }
}
