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

public enum Priority: String, Sendable, Codable, CaseIterable {
    case high, normal, low

    public static let lowestRank = Priority.low.rank

    /// Smaller goes first.
    public var rank: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}

/// Whether the file's sha-256 is computed for its receipt.
public enum Digest: String, Sendable, Codable, CaseIterable {
    case sha256 = "sha-256"
    case none
}

/// Seconds; absent ones fall back to the session's, then to the defaults.
public struct Timeouts: Sendable, Equatable, Codable {
    /// The longest silence of the server.
    public var requestSeconds: Double?
    /// The longest a connection may take to stand.
    public var connectSeconds: Double?
    /// The longest a job may take from its first attempt on, pauses not counted.
    public var resourceSeconds: Double?

    public init(requestSeconds: Double? = nil, connectSeconds: Double? = nil, resourceSeconds: Double? = nil) {
        self.requestSeconds = requestSeconds
        self.connectSeconds = connectSeconds
        self.resourceSeconds = resourceSeconds
    }

    public static let defaults = Timeouts(requestSeconds: 60, connectSeconds: 30, resourceSeconds: 604_800)
}

/// Where the file goes.
public struct Destination: Sendable, Equatable, Codable {
    /// Below the downloads root, `/` between components; nil: the session's, else the root itself.
    public var directory: String?
    /// nil: what the response suggests.
    public var filename: String?
    public var onConflict: Conflict?
    public var createDirectories = true

    public init(directory: String? = nil, filename: String? = nil, onConflict: Conflict? = nil) {
        self.directory = directory
        self.filename = filename
        self.onConflict = onConflict
    }

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        directory = try stored.decodeIfPresent(String.self, forKey: .directory)
        filename = try stored.decodeIfPresent(String.self, forKey: .filename)
        onConflict = try stored.decodeIfPresent(Conflict.self, forKey: .onConflict)
        createDirectories = try stored.decode(.createDirectories, default: true)
    }

    /// When the name is occupied at promotion.
    public enum Conflict: String, Sendable, Codable, CaseIterable {
        /// `name (1).ext`
        case rename
        /// The job fails with `destination_exists`.
        case error
        /// The file that was there is gone.
        case replace
    }
}
