import Foundation
import HTTPSemantics

/// What a waiting job waits for: a time at which it continues by itself, or help from the client.
public struct Wait: Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// The next attempt, after a temporary failure.
        case retry(until: Date)
        /// A route to the network. fetchd checks again at that time.
        case network(until: Date)
        /// Room on the disk. fetchd checks again at that time.
        case space(until: Date)
        /// A downloads folder that works. fetchd checks again at that time.
        case storage(until: Date)
        /// Credentials that the server or a proxy accepts.
        case credentials
        /// A URL that works, because the present one has expired.
        case url
    }

    public var reason: Reason
    /// The failure of the previous attempt.
    public var cause: Failure

    public init(_ reason: Reason, cause: Failure) {
        self.reason = reason
        self.cause = cause
    }
}

extension Wait {
    /// The reason's name in JSON and SQL.
    public enum Name: String, Sendable, CaseIterable {
        case retry, network, space, storage, credentials, url

        /// Whether only a person or the client can end the wait.
        public var needsHelp: Bool {
            switch self {
            case .retry, .network, .space, .storage: false
            case .credentials, .url: true
            }
        }
    }

    public var name: Name {
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
    func isEnded(by help: Set<Help>) -> Bool {
        switch reason {
        case .credentials: help.contains(isForProxy ? .proxy : .credentials)
        case .url: help.contains(.url)
        case .retry, .network, .space, .storage: false
        }
    }

    /// Whether the job waits for credentials that the session's proxy accepts.
    public var isForProxy: Bool { reason == .credentials && cause.code == .proxyCredentialsRequired }

    /// The challenge of the server or proxy, if the job waits for credentials.
    public var challenge: Challenge? { reason == .credentials ? cause.challenge : nil }
}
