import Base
import Formats
import Foundation

/// One request as a webhook receiver got it.
public struct ReceivedWebhook: Sendable {
    public let request: RecordedRequest
    public let time: Date

    /// The same for every attempt of one delivery.
    public var id: String? { request.header("webhook-id") }
    public var bytes: [UInt8] { request.body }
    /// null if the body is no JSON.
    public var json: JSON { (try? JSON(parsing: request.body)) ?? .null }
    public var type: String? { json["type"].string }
    public var data: JSON { json["data"] }

    func isOf(_ type: String?) -> Bool { type == nil || type == self.type }

    /// Whether one of its signatures (Standard Webhooks 1.0.0) is valid for this secret and these bytes, and recent. It
    /// is written from the specification and shares no code with the signer.
    public func isSigned(with secret: String, tolerance: TimeInterval = 300) -> Bool {
        guard let id, let timestamp = request.header("webhook-timestamp"), let seconds = Double(timestamp),
            abs(time.timeIntervalSince1970 - seconds) <= tolerance, secret.hasPrefix("whsec_"),
            let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count)))
        else { return false }
        let content = Array("\(id).\(timestamp).".utf8) + request.body
        return signatures.contains(Self.hmac(content, key: Array(key)))
    }

    /// HMAC-SHA256 as RFC 2104 defines it, for keys of at most 64 bytes.
    private static func hmac(_ message: [UInt8], key: [UInt8]) -> Data {
        let block = key + Array(repeating: 0, count: 64 - key.count)
        let inner = HashFunction.sha256.hash(block.map { $0 ^ 0x36 } + message)
        return Data(HashFunction.sha256.hash(block.map { $0 ^ 0x5c } + inner))
    }

    /// The number of secrets that signed it: more than one during a rotation.
    public var signatureCount: Int { signatures.count }

    private var signatures: [Data] {
        (request.header("webhook-signature") ?? "").split(separator: " ").compactMap { signature in
            signature.hasPrefix("v1,") ? Data(base64Encoded: String(signature.dropFirst(3))) : nil
        }
    }
}
