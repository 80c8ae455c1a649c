import Foundation
import HTTPSemantics

/// Why a job or an attempt failed.
public struct Failure: Error, Sendable, Equatable, Codable {
    public var code: Code
    /// A sentence for people: what happened and, if useful, what to do.
    public var message: String
    /// The HTTP status, if the failure has one.
    public var status: Int?
    /// The number of attempts in the run when the failure occurred.
    public var attempts: Int
    public var at: Date
    /// The challenge of the server or proxy, for `credentials_required` and `proxy_credentials_required`.
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

    /// The stable error codes of the public API.
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
        case proxyCredentialsRequired = "proxy_credentials_required"
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
    /// Whether the same request may succeed later without any change.
    public var mayPass: Bool {
        switch code {
        case .nameResolutionFailed, .connectFailed, .connectionLost, .timedOut, .tooSlow, .truncated: true
        case .badStatus: status.map(Self.passingStatuses.contains) ?? false
        case .badURL, .blockedAddress, .tlsFailed, .tooManyRedirects, .credentialsRequired, .proxyCredentialsRequired,
            .linkExpired, .sizeMismatch, .tooLarge, .checksumMismatch, .badRange, .destinationExists,
            .destinationInvalid, .noSpace,
            .storageError, .deadlineExceeded:
            false
        }
    }

    /// Whether another URL of the same file may succeed.
    public var isOfSource: Bool {
        switch code {
        case .badURL, .blockedAddress, .nameResolutionFailed, .connectFailed, .connectionLost, .tlsFailed, .timedOut,
            .tooSlow, .tooManyRedirects, .badStatus, .credentialsRequired, .linkExpired, .truncated, .sizeMismatch,
            .tooLarge, .checksumMismatch, .badRange:
            true
        case .proxyCredentialsRequired, .destinationExists, .destinationInvalid, .noSpace, .storageError,
            .deadlineExceeded:
            false
        }
    }

    /// Whether an attempt with other requests, or with another `wait_for`, could have ended in another way.
    public var dependsOnSpecification: Bool {
        switch code {
        case .badURL, .blockedAddress, .nameResolutionFailed, .connectFailed, .connectionLost, .tlsFailed, .timedOut,
            .tooSlow, .tooManyRedirects, .badStatus, .credentialsRequired, .proxyCredentialsRequired, .linkExpired,
            .truncated, .sizeMismatch, .tooLarge, .checksumMismatch, .badRange, .noSpace, .storageError:
            true
        case .destinationExists, .destinationInvalid, .deadlineExceeded:
            false
        }
    }

    /// Whether the received bytes are known to be wrong. No attempt may then continue from them.
    public var disprovesBytes: Bool { code == .checksumMismatch }

    /// Statuses of temporary failures: request timeout, too early, too many requests, and those of overloaded or
    /// restarted servers and proxies (520 to 524 are Cloudflare's).
    static let passingStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]
}
