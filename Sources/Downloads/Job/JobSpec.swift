import Foundation
import HTTPSemantics

/// The download as the client specified it. Missing members are taken from the session's configuration when an attempt
/// begins.
public struct JobSpec: Sendable, Equatable, Codable {
    public var url: String
    /// Other URLs of the same file. After a permanent failure, fetchd tries the next one.
    public var mirrors: [String] = []
    public var method = RequestMethod.get
    public var body: RequestBody?
    public var headers: [HeaderField] = []
    public var credentials: Credentials?
    public var destination = Destination()
    public var priority: Priority?
    /// The maximum number of connections to the file, 1 to 16; nil: the session's number.
    public var connections: Int?
    /// In bytes. A file of another size fails with `size_mismatch`.
    public var expectedSize: Int64?
    /// In bytes. A larger file fails with `too_large`.
    public var maxSize: Int64?
    public var digest: Digest?
    /// Whether a body that the server has coded is decoded while it is written; nil: as in the session.
    public var decodes: Bool?
    /// The checksum that the bytes must have. Other bytes fail with `checksum_mismatch`.
    public var checksum: Checksum?
    public var timeouts = Timeouts()
    public var retry: RetryPolicy?
    public var waitFor: [WaitFor]?
    /// In bytes per second; nil: only the limits of the session and the service apply.
    public var rateLimit: Int64?
    /// The job does not start before this time.
    public var notBefore: Date?
    /// The job fails if it has not ended by this time.
    public var deadline: Date?
    public var tags: [String] = []
    public var metadata = Metadata()
    /// The members whose secrets cannot be read any more, because the key that sealed them is lost. Their values are those
    /// of `withoutSecrets`.
    public var lost: Set<SecretMember> = []

    public static let mostConnections = 16

    public init(url: String) { self.url = url }

    /// Bytes of the members that can be large.
    public var size: Int {
        url.utf8.count + mirrors.reduce(0) { $0 + $1.utf8.count } + tags.reduce(0) { $0 + $1.utf8.count }
            + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } + metadata.size + (body?.size ?? 0)
    }

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
        decodes = try stored.decodeIfPresent(Bool.self, forKey: .decodes)
        checksum = try stored.decodeIfPresent(Checksum.self, forKey: .checksum)
        timeouts = try stored.decode(.timeouts, default: Timeouts())
        retry = try stored.decodeIfPresent(RetryPolicy.self, forKey: .retry)
        waitFor = try stored.decodeIfPresent([WaitFor].self, forKey: .waitFor)
        rateLimit = try stored.decodeIfPresent(Int64.self, forKey: .rateLimit)
        notBefore = try stored.decodeIfPresent(Date.self, forKey: .notBefore)
        deadline = try stored.decodeIfPresent(Date.self, forKey: .deadline)
        tags = try stored.decode(.tags, default: [])
        metadata = try stored.decode(.metadata, default: Metadata())
        lost = try stored.decode(.lost, default: [])
    }
}
