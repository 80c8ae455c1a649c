import Formats
import Foundation

/// A permission to use the API. Its holder proves it with a secret, of which fetchd stores only a digest.
public struct Token: Sendable, Equatable {
    public let id: TokenID
    /// A label for people; nil without one. Several tokens can have the same.
    public var name: Name?
    public var grant: Permissions
    public var quotas: TokenQuotas
    public let createdAt: Date
    /// The token is refused from this time on; nil: it does not expire.
    public var expiresAt: Date?
    /// When a request last used the token, at most a minute too early; nil: never.
    public var lastUsedAt: Date?
    /// Until when the previous secret is accepted, after a rotation with an overlap.
    public var formerSecretUntil: Date?

    public init(
        id: TokenID, name: Name?, grant: Permissions, quotas: TokenQuotas = .none, createdAt: Date,
        expiresAt: Date? = nil, lastUsedAt: Date? = nil, formerSecretUntil: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.grant = grant
        self.quotas = quotas
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.formerSecretUntil = formerSecretUntil
    }

    /// - Parameter now: of the wall clock. After a jump ahead, a token expires early rather than late.
    public func isExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// A token's identifier: `tok_` and a ULID. It is not secret.
public struct TokenID: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> TokenID { TokenID("tok_\(ulid)") }
    public var description: String { text }
}

/// Limits of what the holder of a token uses; nil: no limit.
public struct TokenQuotas: Sendable, Equatable, Codable {
    /// Jobs that the token has created and that have not ended.
    public var outstandingJobs: Int?
    /// The number of bytes that its jobs receive on a day (UTC). Jobs that run when it is reached continue to their end.
    public var bytesPerDay: Int64?
    /// Its jobs that run at the same time. Others wait in the queue.
    public var concurrentTransfers: Int?
    public var requestsPerSecond: Int?

    public init(
        outstandingJobs: Int? = nil, bytesPerDay: Int64? = nil, concurrentTransfers: Int? = nil,
        requestsPerSecond: Int? = nil
    ) {
        self.outstandingJobs = outstandingJobs
        self.bytesPerDay = bytesPerDay
        self.concurrentTransfers = concurrentTransfers
        self.requestsPerSecond = requestsPerSecond
    }

    public static let none = TokenQuotas()

    /// Whether jobs of the token may have to wait for their start.
    public var limitsTransfers: Bool { bytesPerDay != nil || concurrentTransfers != nil }
}

public enum ExceededQuota: Sendable, Equatable {
    /// - Parameters:
    ///   - left: the number of jobs that the token may still create.
    ///   - requested: the number of jobs in the request.
    case outstandingJobs(limit: Int, left: Int, requested: Int)
    /// - Parameter seconds: until the next day (UTC).
    case bytesPerDay(limit: Int64, seconds: Int)
    /// - Parameter seconds: until the next request is allowed.
    case requestsPerSecond(limit: Int, seconds: Double)
}

extension ExceededQuota: CustomStringConvertible {
    public var description: String {
        switch self {
        case .outstandingJobs(let limit, let left, let requested):
            "The token may have \(limit) outstanding jobs. It can create \(left) more, and the request has \(requested). Wait until jobs have ended."
        case .bytesPerDay(let limit, let seconds):
            "The jobs of the token have received the \(limit) bytes of this day. It can create jobs again in \(seconds) seconds, at midnight UTC."
        case .requestsPerSecond(let limit, _):
            "The token may send \(limit) request\(limit == 1 ? "" : "s") a second."
        }
    }
}

/// A day of the quota `bytesPerDay`: from midnight to midnight, UTC.
public struct QuotaDay: Sendable, Hashable {
    /// The number of days since 1970.
    public let number: Int64

    public init(of time: Date) { number = Int64((time.timeIntervalSince1970 / Self.length).rounded(.down)) }

    public var end: Date { Date(timeIntervalSince1970: Double(number + 1) * Self.length) }

    private static let length = 86_400.0
}
