import Formats
import Foundation
import HTTPSemantics

/// What a waiting job waits for: a time at which it continues by itself, or help from the client.
public struct Wait: Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// The next attempt, after a temporary failure.
        case retry(until: Date)
        /// A route to the network. fetchd checks again at that time.
        case network(until: Date)
        /// Room on the disk of a location. fetchd checks again at that time.
        case space(until: Date)
        /// A location that works. fetchd checks again at that time.
        case storage(until: Date)
        /// Credentials that the server or a proxy accepts.
        case credentials
        /// A URL that works, because the present one has expired.
        case url
    }

    public var reason: Reason
    public var cause: Failure
    /// The location that has too little room or does not work; nil for the other reasons, and in rows of an earlier version.
    public var location: Name?

    public init(_ reason: Reason, cause: Failure, location: Name? = nil) {
        self.reason = reason
        self.cause = cause
        self.location = location
    }

    /// The wait with the location whose disk it is for. A wait for another reason has none.
    public func at(_ location: Name) -> Wait {
        switch reason {
        case .space, .storage: Wait(reason, cause: cause, location: location)
        case .retry, .network, .credentials, .url: self
        }
    }

    /// The wait with another end. One for help from the client has none.
    public func ending(at end: Date) -> Wait {
        var wait = self
        switch reason {
        case .retry: wait.reason = .retry(until: end)
        case .network: wait.reason = .network(until: end)
        case .space: wait.reason = .space(until: end)
        case .storage: wait.reason = .storage(until: end)
        case .credentials, .url: break
        }
        return wait
    }

    public enum Kind: String, Sendable, CaseIterable {
        case retry, network, space, storage, credentials, url

        /// Whether only a person or the client can end the wait.
        public var needsInput: Bool {
            switch self {
            case .retry, .network, .space, .storage: false
            case .credentials, .url: true
            }
        }
    }

    public var name: Kind {
        switch reason {
        case .retry: .retry
        case .network: .network
        case .space: .space
        case .storage: .storage
        case .credentials: .credentials
        case .url: .url
        }
    }

    /// The time at which the job continues by itself; nil if it waits for help.
    public var until: Date? {
        switch reason {
        case .retry(let date), .network(let date), .space(let date), .storage(let date): date
        case .credentials, .url: nil
        }
    }

    /// Credentials for the server do not end the wait for those of a proxy.
    func isEnded(by input: Set<RequiredInput>) -> Bool {
        switch reason {
        case .credentials: input.contains(isForProxy ? .proxy : .credentials)
        case .url: input.contains(.url)
        case .retry, .network, .space, .storage: false
        }
    }

    /// Whether the job waits for credentials that the session's proxy accepts.
    public var isForProxy: Bool { reason == .credentials && cause.code == .proxyCredentialsRequired }

    public var challenge: Challenge? { reason == .credentials ? cause.challenge : nil }
}

/// Decides whether another attempt follows a failed one, and after which delay.
public struct RetryPolicy: Sendable, Equatable, Codable {
    /// The number of failed attempts in a row without progress after which the job fails; at least 1.
    public var maxAttempts = 8
    /// The upper limit of the first delay in seconds. The limit doubles with each failed attempt in a row.
    public var baseSeconds = 1.0
    /// The upper limit of every delay in seconds. `Retry-After` may exceed it.
    public var maxSeconds = 3600.0

    public init() {}

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = RetryPolicy()
        maxAttempts = try stored.decode(.maxAttempts, default: defaults.maxAttempts)
        baseSeconds = try stored.decode(.baseSeconds, default: defaults.baseSeconds)
        maxSeconds = try stored.decode(.maxSeconds, default: defaults.maxSeconds)
    }

    /// The seconds between checks of a full disk, or of a location that does not work.
    public static let spaceSeconds = 30.0
    /// The seconds between checks for a network route.
    public static let networkSeconds = 10.0
    /// In seconds. fetchd obeys a `Retry-After` of up to a day.
    public static let retryAfterLimit = 86_400.0
    /// How often a host can hold off a job without the attempt being counted.
    public static let mostTimesHeldOff = 100

    /// Facts about a failure that the failure itself does not contain.
    public struct Hint: Sendable, Equatable {
        /// The delay in seconds that the server requested. It can lengthen the delay, but never shorten it.
        public var retryAfter: Double?
        /// The machine has no route to the network. The server did not cause the failure, and the attempt does not count.
        public var hasNoRoute: Bool
        /// Each later attempt would fail in the same way, so the job fails now. This has precedence over the failure's code.
        public var isPermanent = false
        /// The next attempt would send another request, or write to a new part. It may succeed even if the failure's
        /// code is permanent.
        public var mayPass: Bool
        /// The bytes came in several pieces, which may be the cause of the mismatch, and fetchd has not yet fetched them again.
        public var mayRestart: Bool
        /// The host has refused the request because it gets too many, and accepts the next one at this time.
        public var heldOffUntil: Date?

        public init(
            retryAfter: Double? = nil, hasNoRoute: Bool = false, mayPass: Bool = false, mayRestart: Bool = false,
            heldOffUntil: Date? = nil, isPermanent: Bool = false
        ) {
            self.isPermanent = isPermanent
            self.heldOffUntil = heldOffUntil
            self.retryAfter = retryAfter
            self.hasNoRoute = hasNoRoute
            self.mayPass = mayPass
            self.mayRestart = mayRestart
        }
    }

    public enum Decision: Sendable, Equatable {
        case wait(Wait)
        case fail(Failure)
    }

    /// - Parameters:
    ///   - failuresInARow: failed attempts since the last new byte, including this one.
    ///   - jitter: 0 to 1, uniform. This "full jitter" spreads clients that failed together
    ///     (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter).
    public func decision(
        on failure: Failure, waitsFor: [WaitFor], failuresInARow: Int, hint: Hint = Hint(), at now: Date,
        jitter: Double
    ) -> Decision {
        if hint.hasNoRoute {
            return .wait(Wait(.network(until: now.addingTimeInterval(Self.networkSeconds)), cause: failure))
        }
        if hint.isPermanent { return .fail(failure) }
        switch failure.code {
        case .noSpace where waitsFor.contains(.space):
            return .wait(Wait(.space(until: now.addingTimeInterval(Self.spaceSeconds)), cause: failure))
        case .storageError where waitsFor.contains(.space) && !hint.mayPass:
            return .wait(Wait(.storage(until: now.addingTimeInterval(Self.spaceSeconds)), cause: failure))
        case .credentialsRequired where waitsFor.contains(.credentials),
            .proxyCredentialsRequired where waitsFor.contains(.credentials):
            return .wait(Wait(.credentials, cause: failure))
        case .linkExpired where waitsFor.contains(.url): return .wait(Wait(.url, cause: failure))
        case .checksumMismatch where hint.mayRestart: return .wait(Wait(.retry(until: now), cause: failure))
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
