import Formats
import Foundation

/// Decides whether another attempt follows a failed one, and after which delay.
public struct RetryPolicy: Sendable, Equatable, Codable {
    /// The number of failed attempts in a row without progress after which the job fails; at least 1.
    public var maxAttempts = 8
    /// Seconds: the upper limit of the first delay. The limit doubles with each failed attempt in a row.
    public var baseSeconds = 1.0
    /// Seconds: the upper limit of every delay. `Retry-After` may exceed it.
    public var maxSeconds = 3600.0

    public init() {}

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = RetryPolicy()
        maxAttempts = try stored.decode(.maxAttempts, default: defaults.maxAttempts)
        baseSeconds = try stored.decode(.baseSeconds, default: defaults.baseSeconds)
        maxSeconds = try stored.decode(.maxSeconds, default: defaults.maxSeconds)
    }

    /// Seconds between checks of a full disk, or of a downloads folder that does not work.
    public static let spaceSeconds = 30.0
    /// Seconds between checks for a network route.
    public static let networkSeconds = 10.0
    /// Seconds: fetchd obeys a `Retry-After` of up to a day.
    public static let retryAfterLimit = 86_400.0

    /// Facts about a failure that the failure itself does not contain.
    public struct Hint: Sendable, Equatable {
        /// The delay in seconds that the server requested. It can lengthen the delay, but never shorten it.
        public var retryAfter: Double?
        /// The machine has no route to the network. The server did not cause the failure, and the attempt does not
        /// count.
        public var hasNoRoute: Bool
        /// The next attempt would send another request, or write to a new part. It may succeed even if the failure's
        /// code is permanent.
        public var mayPass: Bool
        /// The bytes came in several pieces, which may be the cause of the mismatch, and fetchd has not yet fetched
        /// them again.
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
    ///   - waitsFor: the conditions for which the job waits instead of failing.
    ///   - failuresInARow: failed attempts since the last new byte, including this one.
    ///   - hint: facts about the attempt that the failure does not contain.
    ///   - jitter: 0 to 1, uniform. This "full jitter" spreads clients that failed together
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
        case .credentialsRequired where waitsFor.contains(.credentials),
            .proxyCredentialsRequired where waitsFor.contains(.credentials):
            return .wait(Wait(.credentials, cause: failure))
        case .linkExpired where waitsFor.contains(.url): return .wait(Wait(.url, cause: failure))
        case .checksumMismatch where hint.mayBeginAnew: return .wait(Wait(.retry(until: now), cause: failure))
        default: break
        }
        guard failure.mayPass || hint.mayPass, failuresInARow < maxAttempts else { return .fail(failure) }
        let until = nextAttempt(after: failure, failuresInARow: failuresInARow, hint: hint, at: now, jitter: jitter)
        return .wait(Wait(.retry(until: until), cause: failure))
    }

    /// When the source may be asked again, if `maxAttempts` does not end the job: at once after a permanent failure, because
    /// the job then asks for something else.
    public func nextAttempt(
        after failure: Failure, failuresInARow: Int, hint: Hint = Hint(), at now: Date, jitter: Double
    ) -> Date {
        guard failure.mayPass || hint.mayPass else { return now }
        let bound = min(maxSeconds, baseSeconds * pow(2, Double(max(0, failuresInARow - 1))))
        let asked = min(hint.retryAfter ?? 0, Self.retryAfterLimit)
        return Date(milliseconds: now.addingTimeInterval(max(bound * jitter, asked)).milliseconds)
    }
}
