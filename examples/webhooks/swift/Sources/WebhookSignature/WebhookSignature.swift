import Crypto
import Foundation

/// The head of a webhook request of fetchd, by Standard Webhooks 1.0.0.
public struct WebhookSignature: Sendable {
    /// Seconds. Older requests are refused, so that a recorded request cannot be used again later.
    public static let tolerance = 300.0

    public var id: String
    public var timestamp: String
    public var signatures: String

    /// The arguments are the values of webhook-id, webhook-timestamp and webhook-signature.
    public init(id: String, timestamp: String, signatures: String) {
        self.id = id
        self.timestamp = timestamp
        self.signatures = signatures
    }

    /// Whether fetchd has signed this body.
    /// - Parameters:
    ///   - body: the unchanged bytes of the request.
    ///   - secret: the secret of the webhook, `whsec_...`.
    public func isGenuine(for body: Data, secret: String, at now: Date = Date()) -> Bool {
        guard (1...11).contains(timestamp.utf8.count), timestamp.utf8.allSatisfy({ (48...57).contains($0) }),
            let seconds = TimeInterval(timestamp), abs(now.timeIntervalSince1970 - seconds) <= Self.tolerance,
            let key = Data(base64Encoded: secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret),
            !key.isEmpty
        else { return false }
        let content = Data("\(id).\(timestamp).".utf8) + body
        // During a rotation, there is one signature for each secret.
        return signatures.split(separator: " ").contains { signature in
            guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3))) else {
                return false
            }
            // This compares in constant time.
            return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: SymmetricKey(data: key))
        }
    }
}
