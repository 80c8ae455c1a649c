import Foundation
import HTTPSemantics

/// The settings that the jobs of a session share. Every member is optional. A missing member has its default.
public struct SessionConfiguration: Sendable, Equatable, Codable {
    public var headers: [HeaderField] = []
    public var userAgent: String?
    public var timeouts = Timeouts()
    /// The maximum number of running jobs. A job holds its slot from start to end. nil: only the service's limit applies.
    public var maxConcurrentJobs: Int?
    /// The smaller of this limit and the service's limit applies.
    public var maxConnectionsPerHost: Int?
    /// How requests to some hosts are limited, besides the rules of the service.
    public var hostRules = HostRules()
    public var retry: RetryPolicy?
    /// Relative to the downloads root.
    public var directory: String?
    /// The location that the files go to; nil: `default`, the downloads folder.
    public var location: Name?
    public var onConflict: Destination.Conflict?
    public var waitFor: [WaitFor]?
    public var digest: Digest?
    /// It applies to each job that does not specify it.
    public var decodes: Bool?
    /// It applies to each job that does not specify it.
    public var resumePolicy: ResumePolicy?
    public var priority: Priority?
    /// The number for each job that does not specify its own.
    public var connections: Int?
    /// Seconds between the end of the last job and `session.finished`, so that jobs that a loop submits one by one form
    /// one batch.
    public var finishDelaySeconds: Double?
    /// Whether a finish waits for an acknowledgement; nil: once the session has a consumer that can give it.
    public var acknowledgement: Acknowledgement?
    /// In bytes per second, for all jobs of the session together; nil: only the service's limit applies.
    public var rateLimit: Int64?
    /// In bytes, for the finished files of the session and the parts of its outstanding jobs together. A job fails that
    /// would exceed it.
    public var maxTotalSize: Int64?
    /// In bytes per second, measured over the time that the service is configured with (default: a minute). fetchd ends
    /// a slower transfer and tries again.
    public var minimumSpeed: Int64?
    public var tls = TLSRule()
    public var proxy: Proxy?
    /// The seconds for which fetchd keeps the bytes of a job that does not run.
    public var resumeDataTTL: Double?
    public var metadata = Metadata()
    /// The members whose secrets cannot be read any more, because the key that sealed them is lost.
    public var lost: Set<SecretMember> = []

    public init() {}

    public static let defaultFinishDelaySeconds = 1.0
    public static let defaultUserAgent = "fetchd"
    /// A week.
    public static let defaultResumeDataTTL: TimeInterval = 604_800
}

extension SessionConfiguration {
    public var secrets: Set<SecretMember> {
        var secrets: Set<SecretMember> = []
        if headers.contains(where: \.isSecret) { secrets.insert(.headers) }
        if let proxy, proxy != proxy.withoutCredentials { secrets.insert(.proxy) }
        return secrets
    }

    /// The configuration as it is known without the key.
    public var withoutSecrets: SessionConfiguration {
        var configuration = self
        configuration.lost.formUnion(secrets)
        configuration.headers = headers.map(\.redacted)
        configuration.proxy = proxy?.withoutCredentials
        return configuration
    }

    /// A placeholder stands for a header that the session does not have.
    public struct UnknownPlaceholder: Error, Sendable, Equatable {
        /// The name of the header.
        public var header: String
    }

    /// The configuration with the secrets of `stored` where a client has sent back their redacted form: the placeholder of
    /// a header, and the proxy without its user and password.
    public func keepingSecrets(of stored: SessionConfiguration) throws(UnknownPlaceholder) -> SessionConfiguration {
        var kept = self
        for (index, header) in headers.enumerated() where header.isRedacted {
            let name = header.name.lowercased()
            guard let known = stored.headers.first(where: { $0.name.lowercased() == name }) else {
                throw UnknownPlaceholder(header: header.name)
            }
            kept.headers[index].value = known.value
        }
        if let proxy, proxy == stored.proxy?.withoutCredentials { kept.proxy = stored.proxy }
        if stored.lost.contains(.headers), kept.headers.contains(where: \.isRedacted) { kept.lost.insert(.headers) }
        if stored.lost.contains(.proxy), kept.proxy != nil, kept.proxy == stored.proxy { kept.lost.insert(.proxy) }
        return kept
    }
}

/// The certificates that the transfers of a session, or the requests to a webhook, accept.
public struct TLSRule: Sendable, Equatable, Codable {
    /// The path of a PEM file, in fetchd's file system. Its certificates are trusted instead of the system's.
    public var caFile: String?
    /// By host: base64 of the SHA-256 digests of public keys (SubjectPublicKeyInfo). One of them must match the server's key.
    public var pinnedPublicKeys: [String: [String]]
    /// false accepts any certificate. fetchd logs a warning each time a session or webhook is declared with it, and for
    /// each attempt of a job.
    public var verify: Bool

    public init(caFile: String? = nil, pinnedPublicKeys: [String: [String]] = [:], verify: Bool = true) {
        self.caFile = caFile
        self.pinnedPublicKeys = pinnedPublicKeys
        self.verify = verify
    }
}
