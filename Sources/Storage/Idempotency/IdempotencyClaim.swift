import Foundation

/// A request that its client may repeat, not knowing whether it arrived: `Idempotency-Key`, as
/// draft-ietf-httpapi-idempotency-key-header describes it.
public struct IdempotencyClaim: Sendable {
    /// Who asks, and for what: keys of different callers and routes have nothing to do with each other.
    public var caller: String
    public var route: String
    public var key: String
    /// Of the request's content: the same key with another content is a mistake.
    public var fingerprint: Data

    public init(caller: String, route: String, key: String, fingerprint: Data) {
        self.caller = caller
        self.route = route
        self.key = key
        self.fingerprint = fingerprint
    }

    /// Seconds for which the first answer is kept: a day.
    public static let lifetime: TimeInterval = 86_400
}
