import Crypto
import Formats
import Foundation

/// One request as a webhook receiver got it.
public struct ReceivedWebhook: Sendable {
    public let request: RecordedRequest
    public let time: Date

    /// The same for every attempt of one delivery.
    public var id: String? { request.header("webhook-id") }
    public var bytes: [UInt8] { request.body }
    /// null when the body is no JSON.
    public var json: JSON { (try? JSON(parsing: request.body)) ?? .null }
    public var type: String? { json["type"].string }
    public var data: JSON { json["data"] }

    func isOf(_ type: String?) -> Bool { type == nil || type == self.type }

    /// Whether one of its signatures (Standard Webhooks 1.0.0) is by this secret, over these bytes, and recent. Written
    /// for itself, from the specification: it shares nothing with the code that signs.
    public func isSigned(with secret: String, tolerance: TimeInterval = 300) -> Bool {
        guard let id, let timestamp = request.header("webhook-timestamp"), let seconds = Double(timestamp),
            abs(time.timeIntervalSince1970 - seconds) <= tolerance, secret.hasPrefix("whsec_"),
            let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count)))
        else { return false }
        let content = Array("\(id).\(timestamp).".utf8) + request.body
        return signatures.contains {
            HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: content, using: SymmetricKey(data: key))
        }
    }

    /// How many secrets signed it: more than one while they are rotated.
    public var signatureCount: Int { signatures.count }

    private var signatures: [Data] {
        (request.header("webhook-signature") ?? "").split(separator: " ").compactMap { signature in
            signature.hasPrefix("v1,") ? Data(base64Encoded: String(signature.dropFirst(3))) : nil
        }
    }
}
