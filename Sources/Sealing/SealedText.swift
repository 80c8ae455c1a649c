import CCrypto

/// The text form of a sealed value: `sealed:1:KEY:BASE64`. `1` is the version of the form, KEY is the identifier of the
/// key, and BASE64 has the nonce, the encrypted text and the tag.
struct SealedText {
    var keyID: String
    var nonce: [UInt8]
    /// The encrypted text and the tag.
    var box: [UInt8]

    private static let prefix = "sealed:1:"

    init(keyID: String, nonce: [UInt8], box: [UInt8]) {
        (self.keyID, self.nonce, self.box) = (keyID, nonce, box)
    }

    /// nil for any other text.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.utf8.dropFirst(Self.prefix.utf8.count).split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Self.decoded(Array(parts[1])), bytes.count >= AES256GCM.nonceLength else {
            return nil
        }
        keyID = String(decoding: parts[0], as: UTF8.self)
        nonce = Array(bytes.prefix(AES256GCM.nonceLength))
        box = Array(bytes.dropFirst(AES256GCM.nonceLength))
    }

    var text: String { "\(Self.prefix)\(keyID):\(Self.encoded(nonce + box))" }

    private static func encoded(_ bytes: [UInt8]) -> String {
        // The function ends the text with a NUL.
        let length = (bytes.count + 2) / 3 * 4
        return String(
            decoding: [UInt8](unsafeUninitializedCapacity: length + 1) { buffer, count in
                EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count))
                count = length
            }, as: UTF8.self)
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { buffer, count in
            let length = Int(EVP_DecodeBlock(buffer.baseAddress, text, Int32(text.count)))
            isValid = length == text.count / 4 * 3
            count = isValid ? length - padding : 0
        }
        return isValid ? bytes : nil
    }
}
