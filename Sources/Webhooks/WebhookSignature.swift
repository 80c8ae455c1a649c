import Downloads
import Foundation
import Hashing

/// Signs by Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks, spec): HMAC-SHA256 over
/// `id.timestamp.body`, in base64, after the version `v1`. Each secret gives one signature. Spaces separate the
/// signatures.
enum WebhookSignature {
    /// - Parameter timestamp: the time of this attempt, in seconds since 1970.
    static func sign(id: DeliveryID, timestamp: Int64, body: [UInt8], with secrets: [WebhookSecret]) -> String {
        var content = Array("\(id).\(timestamp).".utf8)
        content += body
        return secrets.map { secret in
            let code = MessageAuthentication.hmacSHA256(content, key: Array(secret.key))
            return "v1," + Data(code).base64EncodedString()
        }.joined(separator: " ")
    }
}
