import Foundation

/// A request that its client may repeat because it does not know whether the first one arrived: the header
/// `Idempotency-Key` of draft-ietf-httpapi-idempotency-key-header.
public struct IdempotencyClaim: Sendable {
    /// The authenticated caller and the route. Each combination has its own keys.
    public var caller: String
    public var route: String
    public var key: String
    /// A hash of the content. The same key with other content is an error.
    public var fingerprint: Data

    public init(caller: String, route: String, key: String, fingerprint: Data) {
        self.caller = caller
        self.route = route
        self.key = key
        self.fingerprint = fingerprint
    }

    /// Seconds for which the first answer is kept: one day.
    public static let lifetime: TimeInterval = 86_400
}
