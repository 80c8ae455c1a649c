import Formats
import Foundation
import Hashing
import Storage

/// The secret of a token: `fetchd_` and the base64url of 32 random bytes. The beginning makes a leaked secret easy to
/// find.
struct TokenSecret: Sendable {
    let text: String

    /// From the random number generator of the system.
    static func random() -> TokenSecret {
        let base64 = Data([UInt8].random(count: 32)).base64EncodedString()
        let encoded = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return TokenSecret(text: beginning + encoded)
    }

    var digest: TokenDigest { TokenDigest(of: text) }

    private static let beginning = "fetchd_"
}

extension TokenDigest {
    init(of secret: some StringProtocol) { self.init(HashFunction.sha256.hash(Array(secret.utf8))) }

    /// All digests have one length, so the time of the comparison reveals nothing.
    func isEqual(_ other: TokenDigest) -> Bool { MessageAuthentication.isEqual(bytes, other.bytes) }
}
