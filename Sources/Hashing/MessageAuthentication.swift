import CCrypto

/// Codes that show who a message is from, and that it was not changed.
public enum MessageAuthentication {
    /// HMAC-SHA256 (RFC 2104).
    ///
    /// - Parameter key: any length; it should have 24 bytes at least.
    public static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            var length: UInt32 = 0
            let code = HMAC(
                EVP_sha256(), key, Int32(key.count), message, message.count, buffer.baseAddress, &length)
            precondition(code != nil, "libcrypto could not compute an HMAC")
            count = Int(length)
        }
    }

    /// Whether both are the same. The time that it takes depends on the length alone, so it does not show where they differ.
    public static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
