import Foundation
import HTTPSemantics

/// The settings that the jobs of a session share. Every member is optional. A missing member has its default.
public struct SessionConfiguration: Sendable, Equatable, Codable {
    public var headers: [HeaderField] = []
    public var userAgent: String?
    public var timeouts = Timeouts()
    /// The maximum number of running jobs. A job holds its slot from start to end. nil: only the service's limit
    /// applies.
    public var maxConcurrentJobs: Int?
    /// The smaller of this limit and the service's limit applies.
    public var maxConnectionsPerHost: Int?
    public var retry: RetryPolicy?
    /// Relative to the downloads root.
    public var directory: String?
    public var onConflict: Destination.Conflict?
    public var waitFor: [WaitFor]?
    public var digest: Digest?
    /// For each job that does not specify it.
    public var decodes: Bool?
    public var priority: Priority?
    /// For each job that does not specify its own number.
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
    /// Seconds for which fetchd keeps the bytes of a job that does not run.
    public var resumeDataTTL: Double?
    public var metadata = Metadata()
    /// The members whose secrets cannot be read any more, because the key that sealed them is lost.
    public var lost: Set<SecretMember> = []

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
        decodes = try stored.decodeIfPresent(Bool.self, forKey: .decodes)
        priority = try stored.decodeIfPresent(Priority.self, forKey: .priority)
        connections = try stored.decodeIfPresent(Int.self, forKey: .connections)
        finishDelaySeconds = try stored.decodeIfPresent(Double.self, forKey: .finishDelaySeconds)
        acknowledgement = try stored.decodeIfPresent(Acknowledgement.self, forKey: .acknowledgement)
        rateLimit = try stored.decodeIfPresent(Int64.self, forKey: .rateLimit)
        maxTotalSize = try stored.decodeIfPresent(Int64.self, forKey: .maxTotalSize)
        minimumSpeed = try stored.decodeIfPresent(Int64.self, forKey: .minimumSpeed)
        tls = try stored.decode(.tls, default: TLSRule())
        proxy = try stored.decodeIfPresent(Proxy.self, forKey: .proxy)
        resumeDataTTL = try stored.decodeIfPresent(Double.self, forKey: .resumeDataTTL)
        metadata = try stored.decode(.metadata, default: Metadata())
        lost = try stored.decode(.lost, default: [])
    }

    public static let defaultFinishDelaySeconds = 1.0
    public static let defaultUserAgent = "fetchd"
    /// A week.
    public static let defaultResumeDataTTL: TimeInterval = 604_800
}
