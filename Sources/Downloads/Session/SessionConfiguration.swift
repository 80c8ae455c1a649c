import Foundation
import HTTPSemantics

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
    /// Of each of its jobs that does not say.
    public var connections: Int?
    /// Seconds between the last job's end and `session.finished`: a loop of single submissions is one batch.
    public var finishDelaySeconds: Double?
    /// Bytes a second, for all its jobs together; nil: the service's limit alone.
    public var rateLimit: Int64?
    /// Bytes a second, judged over a minute; a server that sends less is given up, and tried again.
    public var minimumSpeed: Int64?
    public var tls = TLSRule()
    public var proxy: Proxy?
    /// Seconds that the bytes of a job that does not run are kept.
    public var resumeDataTTL: Double?
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
        connections = try stored.decodeIfPresent(Int.self, forKey: .connections)
        finishDelaySeconds = try stored.decodeIfPresent(Double.self, forKey: .finishDelaySeconds)
        rateLimit = try stored.decodeIfPresent(Int64.self, forKey: .rateLimit)
        minimumSpeed = try stored.decodeIfPresent(Int64.self, forKey: .minimumSpeed)
        tls = try stored.decode(.tls, default: TLSRule())
        proxy = try stored.decodeIfPresent(Proxy.self, forKey: .proxy)
        resumeDataTTL = try stored.decodeIfPresent(Double.self, forKey: .resumeDataTTL)
        metadata = try stored.decode(.metadata, default: Metadata())
    }

    public static let defaultFinishDelaySeconds = 1.0
    public static let defaultUserAgent = "fetchd"
    /// A week.
    public static let defaultResumeDataTTL: TimeInterval = 604_800
}
