import Formats
import Foundation

/// A signing secret of Standard Webhooks 1.0.0: `whsec_` and the base64 of 24 to 64 bytes.
public struct WebhookSecret: Sendable, Equatable {
    public let text: String
    public let key: Data

    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            (24...64).contains(key.count)
        else { return nil }
        self.text = text
        self.key = key
    }

    /// 32 bytes from the random number generator of the system.
    public static func random() -> WebhookSecret {
        WebhookSecret(key: Data([UInt8].random(count: 32)))
    }

    private init(key: Data) {
        text = Self.prefix + key.base64EncodedString()
        self.key = key
    }

    private static let prefix = "whsec_"
}
