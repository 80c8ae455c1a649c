import CCrypto

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): it encrypts a text, and detects every change of the text or of the
/// data that belongs to it.
enum AES256GCM {
    static let nonceLength = 12
    static let tagLength = 16

    /// A random nonce of 96 bits. With random nonces, one key may seal 2^32 values (SP 800-38D, section 8.3).
    static func makeNonce() -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: nonceLength)
        precondition(RAND_bytes(&nonce, Int32(nonce.count)) == 1, "libcrypto has no random numbers")
        return nonce
    }

    /// - Returns: the encrypted text and the tag.
    static func seal(
        _ text: [UInt8], nonce: [UInt8], authenticating data: [UInt8], with key: SealingKey
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: text.count + tagLength) { buffer, count in
            let output = buffer.baseAddress
            let isSealed = withContext { context in
                var (length, last): (Int32, Int32) = (0, 0)
                return key.withBytes { EVP_EncryptInit_ex2(context, cipher, $0, nonce, nil) } == 1
                    && EVP_EncryptUpdate(context, nil, &length, data, Int32(data.count)) == 1
                    && EVP_EncryptUpdate(context, output, &length, text, Int32(text.count)) == 1
                    && EVP_EncryptFinal_ex(context, output.map { $0 + Int(length) }, &last) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), output.map { $0 + text.count }) == 1
            }
            precondition(isSealed, "libcrypto could not encrypt a text")
            count = text.count + tagLength
        }
    }

    /// - Parameter sealed: the result of `seal`.
    /// - Returns: nil unless text, nonce, data and key are those of `seal`.
    static func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating data: [UInt8], with key: SealingKey
    ) -> [UInt8]? {
        guard sealed.count >= tagLength, nonce.count == nonceLength else { return nil }
        let textLength = sealed.count - tagLength
        var isOpened = false
        let text = [UInt8](unsafeUninitializedCapacity: sealed.count) { buffer, count in
            let output = buffer.baseAddress
            var tag = Array(sealed[textLength...])
            isOpened = withContext { context in
                var (length, last): (Int32, Int32) = (0, 0)
                return key.withBytes { EVP_DecryptInit_ex2(context, cipher, $0, nonce, nil) } == 1
                    && EVP_DecryptUpdate(context, nil, &length, data, Int32(data.count)) == 1
                    && EVP_DecryptUpdate(context, output, &length, sealed, Int32(textLength)) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1
                    && EVP_DecryptFinal_ex(context, output.map { $0 + Int(length) }, &last) == 1
            }
            count = isOpened ? textLength : 0
        }
        return isOpened ? text : nil
    }

    private static func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        // Also overwrites the key schedule.
        defer { EVP_CIPHER_CTX_free(context) }
        return body(context)
    }

    /// Looked up once, because a lookup takes longer than the encryption of a short text.
    nonisolated(unsafe) private static let cipher: OpaquePointer = {
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            preconditionFailure("libcrypto has no AES-256-GCM")
        }
        return cipher
    }()
}
