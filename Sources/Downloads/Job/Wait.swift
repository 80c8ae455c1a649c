import Foundation
import HTTPSemantics

/// What a waiting job waits for: a moment, after which it continues by itself, or the client's help.
public struct Wait: Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// The next try, after an attempt that failed for a reason that may pass.
        case retry(until: Date)
        /// A way to the network, which is looked for again at that time.
        case network(until: Date)
        /// Room on the disk, which is looked for again at that time.
        case space(until: Date)
        /// A downloads folder that works, which is looked for again at that time.
        case storage(until: Date)
        /// Credentials that the server, or a proxy, takes.
        case credentials
        /// An address that works: the one there is has expired.
        case url
    }

    public var reason: Reason
    /// What the attempt before ended with.
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

    /// When it goes on by itself; nil where it does not.
    public var until: Date? {
        switch reason {
        case .retry(let date), .network(let date), .space(let date), .storage(let date): date
        case .credentials, .url: nil
        }
    }

    func isEnded(by help: Set<WaitFor>) -> Bool {
        switch reason {
        case .credentials: help.contains(.credentials)
        case .url: help.contains(.url)
        case .retry, .network, .space, .storage: false
        }
    }

    /// What the server demands, where that is what is waited for.
    public var challenge: Challenge? { reason == .credentials ? cause.challenge : nil }
}
