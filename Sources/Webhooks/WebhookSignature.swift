import Downloads
import Foundation
import Hashing

/// Signing by Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks, spec): HMAC-SHA256 over
/// `id.timestamp.body`, base64, behind the version `v1`; one signature for each secret, with spaces between.
enum WebhookSignature {
    /// - Parameter timestamp: seconds since 1970, of this attempt.
    static func sign(id: DeliveryID, timestamp: Int64, body: [UInt8], with secrets: [WebhookSecret]) -> String {
        var content = Array("\(id).\(timestamp).".utf8)
        content += body
        return secrets.map { secret in
            let code = MessageAuthentication.hmacSHA256(content, key: Array(secret.key))
            return "v1," + Data(code).base64EncodedString()
        }.joined(separator: " ")
    }
}
