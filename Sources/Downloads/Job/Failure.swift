import Foundation
import HTTPSemantics

/// Why a job failed, or why an attempt did.
public struct Failure: Error, Sendable, Equatable, Codable {
    public var code: Code
    /// A sentence for people: what happened, and where it helps, what to do.
    public var message: String
    /// The HTTP status, when there was one.
    public var status: Int?
    /// How many attempts the run had had.
    public var attempts: Int
    public var at: Date
    /// What `credentials_required` is about.
    public var challenge: Challenge?

    public init(
        _ code: Code, _ message: String, status: Int? = nil, attempts: Int = 0, at: Date = .distantPast,
        challenge: Challenge? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.attempts = attempts
        self.at = at
        self.challenge = challenge
    }

    /// The stable codes of the contract.
    public enum Code: String, Sendable, Codable, CaseIterable {
        case badURL = "bad_url"
        case blockedAddress = "blocked_address"
        case nameResolutionFailed = "name_resolution_failed"
        case connectFailed = "connect_failed"
        case connectionLost = "connection_lost"
        case tlsFailed = "tls_failed"
        case timedOut = "timed_out"
        case tooSlow = "too_slow"
        case tooManyRedirects = "too_many_redirects"
        case badStatus = "bad_status"
        case credentialsRequired = "credentials_required"
        case linkExpired = "link_expired"
        case truncated
        case sizeMismatch = "size_mismatch"
        case tooLarge = "too_large"
        case checksumMismatch = "checksum_mismatch"
        case badRange = "bad_range"
        case destinationExists = "destination_exists"
        case destinationInvalid = "destination_invalid"
        case noSpace = "no_space"
        case storageError = "storage_error"
        case deadlineExceeded = "deadline_exceeded"
    }
}

extension Failure {
    /// Whether the same request may succeed a little later without help.
    public var mayPass: Bool {
        switch code {
        case .nameResolutionFailed, .connectFailed, .connectionLost, .timedOut, .tooSlow, .truncated: true
        case .badStatus: status.map(Self.passingStatuses.contains) ?? false
        case .badURL, .blockedAddress, .tlsFailed, .tooManyRedirects, .credentialsRequired, .linkExpired,
            .sizeMismatch, .tooLarge, .checksumMismatch, .badRange, .destinationExists, .destinationInvalid, .noSpace,
            .storageError, .deadlineExceeded:
            false
        }
    }

    /// Whether another address of the same file may do better.
    public var isOfSource: Bool {
        switch code {
        case .badURL, .blockedAddress, .nameResolutionFailed, .connectFailed, .connectionLost, .tlsFailed, .timedOut,
            .tooSlow, .tooManyRedirects, .badStatus, .credentialsRequired, .linkExpired, .truncated, .sizeMismatch,
            .tooLarge, .checksumMismatch, .badRange:
            true
        case .destinationExists, .destinationInvalid, .noSpace, .storageError, .deadlineExceeded: false
        }
    }

    /// Whether the received bytes are known to be wrong, so that no attempt may continue from them.
    public var disprovesBytes: Bool { code == .checksumMismatch }

    /// Request timeout, too early, too many requests, and what servers and the proxies before them answer when they are
    /// overloaded or restarted (520 to 524 are Cloudflare's).
    static let passingStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]
}
