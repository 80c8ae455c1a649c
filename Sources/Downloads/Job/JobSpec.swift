import Formats
import Foundation
import HTTPSemantics

/// The download as the client specified it. Missing members are taken from the session's configuration when an attempt begins.
public struct JobSpec: Sendable, Equatable, Codable {
    public var url: String
    /// Other URLs of the same file. After a permanent failure, fetchd tries the next one.
    public var mirrors: [String] = []
    /// nil: `given`.
    public var mirrorPolicy: MirrorPolicy?
    /// What an attempt has discovered; nil before, and if the policy is `given`.
    public var discovery: Discovery?
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
    /// nil: that of the session.
    public var resumePolicy: ResumePolicy?
    /// The checksum that the bytes must have. Other bytes fail with `checksum_mismatch`.
    public var checksum: ExpectedChecksum?
    /// With a checksum, they find the wrong bytes of a file that does not match it. Without, each of them must match.
    public var pieces: PieceDigests?
    public var timeouts = Timeouts()
    public var retry: RetryPolicy?
    public var waitFor: [WaitFor]?
    /// In bytes per second; nil: only the limits of the session and the service apply.
    public var rateLimit: Int64?
    public var notBefore: Date?
    public var deadline: Date?
    public var tags: [String] = []
    public var metadata = Metadata()
    /// The members whose secrets cannot be read any more, because the key that sealed them is lost. Their values are those
    /// of `withoutSecrets`.
    public var lost: Set<SecretMember> = []

    public static let mostConnections = 16

    public init(url: String) { self.url = url }

    /// The number of bytes of the members that can be large.
    public var size: Int {
        url.utf8.count + mirrors.reduce(0) { $0 + $1.utf8.count } + tags.reduce(0) { $0 + $1.utf8.count }
            + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } + metadata.size + (body?.size ?? 0)
            + (pieces?.digests.count ?? 0)
    }
}

extension JobSpec {
    /// The URLs after `url`, which fetchd tries one after another. Discovered mirrors are among them if a digest verifies their files.
    public var alternatives: [String] { mirrors + (discovery?.checksum == nil ? [] : discovery?.mirrors ?? []) }

    /// Whether the client has given the URL, so that its server gets the job's headers and credentials.
    public func isGiven(_ url: String) -> Bool { url == self.url || mirrors.contains(url) }
}

extension JobSpec {
    public var secrets: Set<SecretMember> {
        var secrets: Set<SecretMember> = []
        if Self.holdsSecret(url) || mirrors.contains(where: Self.holdsSecret) { secrets.insert(.url) }
        if headers.contains(where: \.isSecret) { secrets.insert(.headers) }
        if credentials != nil { secrets.insert(.credentials) }
        if body != nil { secrets.insert(.body) }
        if checksum?.file?.holdsSecret ?? false { secrets.insert(.checksum) }
        return secrets
    }

    /// Whether any member holds a secret. Most jobs have none, and every submission asks.
    public var holdsSecrets: Bool {
        credentials != nil || body != nil || Self.holdsSecret(url) || mirrors.contains(where: Self.holdsSecret)
            || headers.contains(where: \.isSecret) || checksum?.file?.holdsSecret ?? false
            || discovery?.mirrors.contains(where: Self.holdsSecret) ?? false
    }

    /// The specification as it is known without the key: URLs without user and query, placeholders for the values of
    /// secret headers, no credentials and no body.
    public var withoutSecrets: JobSpec {
        var spec = self
        spec.lost.formUnion(secrets)
        spec.url = Self.redacted(url)
        spec.mirrors = mirrors.map(Self.redacted)
        spec.headers = headers.map(\.redacted)
        spec.credentials = nil
        spec.body = nil
        spec.discovery = nil
        if case .file(let file)? = checksum { spec.checksum = .file(file.withoutSecrets) }
        return spec
    }

    /// The parameters of a rehearsal are no secrets.
    private static func holdsSecret(_ url: String) -> Bool { URLRule.holdsSecret(url) && !Rehearsal.isRehearsal(url) }

    private static func redacted(_ url: String) -> String { Rehearsal.isRehearsal(url) ? url : URLRule.redacted(url) }
}

extension JobSpec {
    /// The stored URL that answers show as `shown`, without its user or its query. A client that sends the shown form back
    /// does not change the URL.
    public func url(shownAs shown: String) -> String? {
        ([url] + mirrors).first { URLRule.withoutCredentials($0) == shown || URLRule.redacted($0) == shown }
    }

    /// Ends the loss of the members that a client has supplied again.
    public mutating func endLoss(supplied fields: Set<PatchableField>) {
        if fields.contains(.url), !URLRule.isRedacted(url) { lost.remove(.url) }
        if fields.contains(.credentials) { lost.remove(.credentials) }
        if fields.contains(.headers), !headers.contains(where: \.isRedacted) { lost.remove(.headers) }
    }
}

public struct Destination: Sendable, Equatable, Codable {
    /// The location that the file goes to; nil: the session's, otherwise `default`, the downloads folder.
    public var location: Name?
    /// Relative to the folder of the location, with `/` between components; nil: the session's folder, otherwise the root itself.
    public var directory: String?
    /// A name or a template (`FilenameTemplate`); nil: the name that the response suggests.
    public var filename: String?
    public var onConflict: Conflict?
    public var createDirectories = true
    /// nil: `auto`.
    public var staging: Staging?

    public init(location: Name? = nil, directory: String? = nil, filename: String? = nil, onConflict: Conflict? = nil) {
        self.location = location
        self.directory = directory
        self.filename = filename
        self.onConflict = onConflict
    }

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        location = try stored.decodeIfPresent(Name.self, forKey: .location)
        directory = try stored.decodeIfPresent(String.self, forKey: .directory)
        filename = try stored.decodeIfPresent(String.self, forKey: .filename)
        onConflict = try stored.decodeIfPresent(Conflict.self, forKey: .onConflict)
        createDirectories = try stored.decode(.createDirectories, default: true)
        staging = try stored.decodeIfPresent(Staging.self, forKey: .staging)
    }

    /// What fetchd does if a file with that name exists at promotion.
    public enum Conflict: String, Sendable, Codable, CaseIterable {
        /// The new file is named `name (1).ext`.
        case rename
        /// The job fails with `destination_exists`.
        case error
        case replace
    }

    /// What the disk has of a file that goes to a bucket.
    public enum Staging: String, Sendable, Codable, CaseIterable {
        /// A window of the file while its other bytes arrive and are sent. The whole file if it is small, if it is decoded, if it has
        /// digests of pieces, or if it has a digest to verify and the disk has room.
        case auto
        /// All bytes, until they are verified.
        case whole
    }
}

/// In seconds. Missing values are taken from the session, then from the defaults.
public struct Timeouts: Sendable, Equatable, Codable {
    /// The longest time in which the server sends nothing.
    public var requestSeconds: Double?
    public var connectSeconds: Double?
    /// The longest time for the job, from its first attempt, without pauses.
    public var resourceSeconds: Double?

    public init(requestSeconds: Double? = nil, connectSeconds: Double? = nil, resourceSeconds: Double? = nil) {
        self.requestSeconds = requestSeconds
        self.connectSeconds = connectSeconds
        self.resourceSeconds = resourceSeconds
    }

    public static let defaults = Timeouts(requestSeconds: 60, connectSeconds: 30, resourceSeconds: 604_800)
}

/// Whether fetchd computes the SHA-256 digest of the file for its receipt.
public enum Digest: String, Sendable, Codable, CaseIterable {
    case sha256 = "sha-256"
    case none
}

public enum Priority: String, Sendable, Codable, CaseIterable {
    case high, normal, low

    public static let lowestRank = Priority.low.rank

    /// Jobs with a smaller rank start first.
    public var rank: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}

/// The conditions for which a job can wait instead of failing, if the job or its session lists them. `space` covers a
/// full disk and a downloads folder that does not work.
public enum WaitFor: String, Sendable, Codable, CaseIterable {
    case credentials, url, space

    public static let defaults: [WaitFor] = [.space]
}

public enum PatchableField: String, Sendable, CaseIterable {
    case url, headers, credentials, priority, connections, metadata, deadline, destination
    case rateLimit = "rate_limit_bytes_per_second"
    case notBefore = "not_before"
    case waitFor = "wait_for"
}

extension Set<PatchableField> {
    public var requiredInput: Set<RequiredInput> {
        var input: Set<RequiredInput> = []
        if contains(.url) { input.insert(.url) }
        if contains(.credentials) || contains(.headers) { input.insert(.credentials) }
        return input
    }
}

extension JobState {
    /// Whether a PATCH may still change the field. A succeeded job allows only `metadata`, and a promotion fixes the
    /// destination. A failed or cancelled job uses the new values in its next run.
    public func lets(_ field: PatchableField) -> Bool {
        switch self {
        case .succeeded: field == .metadata
        case .running(.promoting): field != .destination
        case .queued, .running(.attempting), .waiting, .paused, .failed, .cancelled: true
        }
    }
}

/// What a client supplies to a job that waits for it.
public enum RequiredInput: Sendable, CaseIterable {
    /// Other credentials for the server, or another `Authorization` header.
    case credentials
    case url
    /// Another proxy for the session, or other credentials for it.
    case proxy
}

/// The rules for request headers that a client specifies.
extension HeaderField {
    /// The fault in the header, as the end of a sentence; nil if fetchd may send it.
    public var fault: String? {
        if name.isEmpty || !name.utf8.allSatisfy(\.isHTTPTokenCharacter) {
            return "is not a header name (RFC 9110, section 5.1)"
        }
        if value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) { return "contains CR, LF or NUL" }
        if name.utf8.count + value.utf8.count > 8192 { return "is longer than 8192 bytes" }
        if Self.owned.contains(name.lowercased()) { return "is set by fetchd itself" }
        return nil
    }

    /// The fault in a header for the requests to a webhook, as the end of a sentence; nil if fetchd may send it.
    public var faultInWebhook: String? {
        if let fault { return fault }
        let name = name.lowercased()
        if name.hasPrefix("proxy-") { return "concerns only one connection (RFC 9110, section 7.6.1)" }
        return name.hasPrefix("webhook-") || name == "content-type" ? "is set by fetchd itself" : nil
    }

    /// Only fetchd sets these headers, because resuming and the connection depend on them.
    private static let owned: Set<String> = [
        "host", "range", "if-range", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
        "expect", "accept-encoding", "proxy-connection", "keep-alive",
    ]
}
