import Formats
import Foundation

/// When a failed attempt is followed by another, and after how long.
public struct RetryPolicy: Sendable, Equatable, Codable {
    /// Attempts in a row without progress before the job fails; at least 1.
    public var maxAttempts = 8
    /// Seconds: the bound of the first delay; it doubles with each attempt in a row.
    public var baseSeconds = 1.0
    /// Seconds: the bound of every delay.
    public var maxSeconds = 3600.0

    public init() {}

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = RetryPolicy()
        maxAttempts = try stored.decode(.maxAttempts, default: defaults.maxAttempts)
        baseSeconds = try stored.decode(.baseSeconds, default: defaults.baseSeconds)
        maxSeconds = try stored.decode(.maxSeconds, default: defaults.maxSeconds)
    }

    /// Seconds between looks at a full disk, and at a downloads folder that does not work.
    public static let spaceSeconds = 30.0
    /// Seconds between looks for a way to the network.
    public static let networkSeconds = 10.0
    /// Seconds: `Retry-After` is believed up to a day.
    public static let retryAfterLimit = 86_400.0

    /// What surrounds a failure.
    public struct Hint: Sendable, Equatable {
        /// Seconds the server asked for; it lengthens the delay, it never shortens it.
        public var retryAfter: Double?
        /// This machine has no way to the network: no server is to blame, and no attempt is used.
        public var hasNoRoute: Bool
        /// Another attempt would ask otherwise, and may well succeed, whatever the failure's code says.
        public var mayPass: Bool
        /// The bytes came in several pieces, which may be what is wrong with them, and were not fetched anew before.
        public var mayBeginAnew: Bool

        public init(
            retryAfter: Double? = nil, hasNoRoute: Bool = false, mayPass: Bool = false, mayBeginAnew: Bool = false
        ) {
            self.retryAfter = retryAfter
            self.hasNoRoute = hasNoRoute
            self.mayPass = mayPass
            self.mayBeginAnew = mayBeginAnew
        }
    }

    public enum Verdict: Sendable, Equatable {
        case wait(Wait)
        case fail(Failure)
    }

    /// - Parameters:
    ///   - waitsFor: what the job waits for instead of failing.
    ///   - failuresInARow: attempts that failed since the last byte of progress, this one included.
    ///   - hint: what the attempt knows besides its failure.
    ///   - jitter: 0 to 1, uniform: "full jitter" spreads clients that failed together
    ///     (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter).
    public func verdict(
        on failure: Failure, waitsFor: [WaitFor], failuresInARow: Int, hint: Hint = Hint(), at now: Date,
        jitter: Double
    ) -> Verdict {
        if hint.hasNoRoute {
            return .wait(Wait(.network(until: now.addingTimeInterval(Self.networkSeconds)), cause: failure))
        }
        switch failure.code {
        case .noSpace where waitsFor.contains(.space):
            return .wait(Wait(.space(until: now.addingTimeInterval(Self.spaceSeconds)), cause: failure))
        case .storageError where waitsFor.contains(.space) && !hint.mayPass:
            return .wait(Wait(.storage(until: now.addingTimeInterval(Self.spaceSeconds)), cause: failure))
        case .credentialsRequired where waitsFor.contains(.credentials):
            return .wait(Wait(.credentials, cause: failure))
        case .linkExpired where waitsFor.contains(.url): return .wait(Wait(.url, cause: failure))
        case .checksumMismatch where hint.mayBeginAnew: return .wait(Wait(.retry(until: now), cause: failure))
        default: break
        }
        guard failure.mayPass || hint.mayPass, failuresInARow < maxAttempts else { return .fail(failure) }
        let bound = min(maxSeconds, baseSeconds * pow(2, Double(max(0, failuresInARow - 1))))
        let asked = min(hint.retryAfter ?? 0, Self.retryAfterLimit)
        let delay = max(bound * jitter, asked)
        let until = Date(milliseconds: now.addingTimeInterval(delay).milliseconds)
        return .wait(Wait(.retry(until: until), cause: failure))
    }
}
