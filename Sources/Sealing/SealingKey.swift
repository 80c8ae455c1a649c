import Base
import CCrypto
import Formats

/// A key of AES-256: 32 bytes. The memory of the key is overwritten when the last reference to it ends.
public final class SealingKey: @unchecked Sendable {
    public static let length = 32

    /// A name that does not reveal the key: the first eight bytes of a SHA-256 of the key, in hexadecimal.
    public let id: String
    /// Never changed after `init`.
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Parameter write: writes the `length` bytes of the key, and returns whether it could.
    private init?(_ write: (UnsafeMutableRawBufferPointer) -> Bool) {
        bytes = .allocate(byteCount: Self.length, alignment: 16)
        guard write(bytes) else {
            OPENSSL_cleanse(bytes.baseAddress, bytes.count)
            bytes.deallocate()
            return nil
        }
        var hash = RunningHash(.sha256)
        "fetchd key".utf8CString.withUnsafeBytes { hash.update($0) }
        hash.update(UnsafeRawBufferPointer(bytes))
        id = hash.digest.prefix(8).hexadecimal
    }

    /// nil unless there are 32 bytes.
    public convenience init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.init { memory in
            memory.copyBytes(from: bytes)
            return true
        }
    }

    /// A new key from the random number generator for private values.
    public static func random() -> SealingKey {
        let key = SealingKey { RAND_priv_bytes($0.bindMemory(to: UInt8.self).baseAddress, Int32($0.count)) == 1 }
        guard let key else { preconditionFailure("libcrypto has no random numbers") }
        return key
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Another key of 32 bytes, from which this key cannot be computed: the HMAC-SHA256 of its purpose.
    public func derived(for purpose: String) -> [UInt8] {
        withBytes { key in
            var copy = Array(UnsafeBufferPointer(start: key, count: Self.length))
            defer { OPENSSL_cleanse(&copy, copy.count) }
            return MessageAuthentication.hmacSHA256(Array("fetchd \(purpose)".utf8), key: copy)
        }
    }

    func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        guard let address = bytes.bindMemory(to: UInt8.self).baseAddress else { preconditionFailure() }
        return body(address)
    }
}

extension SealingKey {
    /// The length of a key in base64 (RFC 4648, section 4), with its padding.
    static let textLength = 44

    /// Reads 44 characters of base64; nil for any other text.
    public convenience init?(base64 text: some Collection<UInt8>) {
        guard text.count == Self.textLength else { return nil }
        // Three bytes for each four characters; the last one stands for the padding.
        var decoded = [UInt8](repeating: 0, count: Self.length + 1)
        var digits = Array(text)
        defer {
            OPENSSL_cleanse(&decoded, decoded.count)
            OPENSSL_cleanse(&digits, digits.count)
        }
        let padding = UInt8(ascii: "=")
        guard digits.firstIndex(of: padding) == Self.textLength - 1,
            // `EVP_DecodeBlock` ignores blanks.
            digits.dropLast().allSatisfy({ $0.isASCIIAlphanumeric || "+/".utf8.contains($0) }),
            EVP_DecodeBlock(&decoded, digits, Int32(digits.count)) == decoded.count
        else { return nil }
        self.init { memory in
            memory.copyBytes(from: decoded.prefix(Self.length))
            return true
        }
    }

    public var base64: [UInt8] {
        var text = [UInt8](repeating: 0, count: Self.textLength + 1)
        withBytes { _ = EVP_EncodeBlock(&text, $0, Int32(Self.length)) }
        return text.dropLast()
    }
}
