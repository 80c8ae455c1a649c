import Foundation
import HTTPSemantics

/// What the client asked for. Absent members fall back to the session's configuration when an attempt begins.
public struct JobSpec: Sendable, Equatable, Codable {
    public var url: String
    /// Other addresses of the same file, tried in turn when one fails for good.
    public var mirrors: [String] = []
    public var method = RequestMethod.get
    public var body: RequestBody?
    public var headers: [HeaderField] = []
    public var credentials: Credentials?
    public var destination = Destination()
    public var priority: Priority?
    /// Connections to the file at once, 1 to 16; nil: the session's choice.
    public var connections: Int?
    /// Bytes; another size is `size_mismatch`.
    public var expectedSize: Int64?
    /// Bytes; more is `too_large`.
    public var maxSize: Int64?
    public var digest: Digest?
    /// What the bytes have to hash to; other bytes are `checksum_mismatch`.
    public var checksum: Checksum?
    public var timeouts = Timeouts()
    public var retry: RetryPolicy?
    public var waitFor: [WaitFor]?
    /// Bytes a second; nil: only the session's and the service's limits hold.
    public var rateLimit: Int64?
    /// It is not begun before.
    public var notBefore: Date?
    /// It fails when it has not ended by then.
    public var deadline: Date?
    public var tags: [String] = []
    public var metadata = Metadata()

    public static let mostConnections = 16

    public init(url: String) { self.url = url }

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        url = try stored.decode(String.self, forKey: .url)
        mirrors = try stored.decode(.mirrors, default: [])
        method = try stored.decode(.method, default: .get)
        body = try stored.decodeIfPresent(RequestBody.self, forKey: .body)
        headers = try stored.decode(.headers, default: [])
        credentials = try stored.decodeIfPresent(Credentials.self, forKey: .credentials)
        destination = try stored.decode(.destination, default: Destination())
        priority = try stored.decodeIfPresent(Priority.self, forKey: .priority)
        connections = try stored.decodeIfPresent(Int.self, forKey: .connections)
        expectedSize = try stored.decodeIfPresent(Int64.self, forKey: .expectedSize)
        maxSize = try stored.decodeIfPresent(Int64.self, forKey: .maxSize)
        digest = try stored.decodeIfPresent(Digest.self, forKey: .digest)
        checksum = try stored.decodeIfPresent(Checksum.self, forKey: .checksum)
        timeouts = try stored.decode(.timeouts, default: Timeouts())
        retry = try stored.decodeIfPresent(RetryPolicy.self, forKey: .retry)
        waitFor = try stored.decodeIfPresent([WaitFor].self, forKey: .waitFor)
        rateLimit = try stored.decodeIfPresent(Int64.self, forKey: .rateLimit)
        notBefore = try stored.decodeIfPresent(Date.self, forKey: .notBefore)
        deadline = try stored.decodeIfPresent(Date.self, forKey: .deadline)
        tags = try stored.decode(.tags, default: [])
        metadata = try stored.decode(.metadata, default: Metadata())
    }
}

extension JobSpec {
    /// Whether the source is asked the same: what it answered the one would be its answer to the other.
    public func asksLike(_ other: JobSpec) -> Bool {
        url == other.url && mirrors == other.mirrors && headers == other.headers && credentials == other.credentials
    }
}
