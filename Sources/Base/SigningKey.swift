import CCrypto

/// A private key that signs with Ed25519 (RFC 8032).
public struct SigningKey: Sendable, Equatable {
    /// The 32 bytes of the private key.
    public let bytes: [UInt8]

    public static func random() -> SigningKey {
        var bytes = [UInt8](repeating: 0, count: length)
        for index in bytes.indices { bytes[index] = .random(in: 0...255) }
        return SigningKey(trusted: bytes)
    }

    /// nil unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    private init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// The 32 bytes of the public key.
    public var publicKey: [UInt8] {
        withKey { key in
            [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
                count = Self.length
                check(EVP_PKEY_get_raw_public_key(key, buffer.baseAddress, &count))
            }
        }
    }

    /// The signature of 64 bytes.
    public func signature(of content: [UInt8]) -> [UInt8] {
        withKey { key in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            check(EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key, nil))
            return [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
                count = 64
                check(EVP_DigestSign(context, buffer.baseAddress, &count, content, content.count))
            }
        }
    }

    private func withKey<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        let key = EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, bytes, bytes.count)
        defer { EVP_PKEY_free(key) }
        return body(key)
    }

    private static let length = 32
}

/// Shows who has signed a text with Ed25519 (RFC 8032).
public enum VerifyingKey {
    /// - Parameters:
    ///   - signature: 64 bytes.
    ///   - key: the 32 bytes of the public key. No text has a valid signature for other bytes.
    public static func verifies(_ signature: [UInt8], of content: [UInt8], by key: [UInt8]) -> Bool {
        guard signature.count == 64, key.count == 32,
            let key = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, key, key.count)
        else { return false }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        check(EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil))
        return EVP_DigestVerify(context, signature, signature.count, content, content.count) == 1
    }
}

private func check(_ result: Int32) { precondition(result == 1, "libcrypto could not sign") }
