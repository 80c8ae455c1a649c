import CCrypto

/// Message authentication codes, which show that a message comes from the holder of a key and was not changed.
public enum MessageAuthentication {
    /// HMAC-SHA256 (RFC 2104).
    ///
    /// - Parameter key: any length. At least 24 bytes are recommended.
    public static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            var length: UInt32 = 0
            let code = HMAC(
                EVP_sha256(), key, Int32(key.count), message, message.count, buffer.baseAddress, &length)
            precondition(code != nil, "libcrypto could not compute an HMAC")
            count = Int(length)
        }
    }

    /// Compares two values. The time depends only on their length, so it does not reveal where they differ.
    public static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
