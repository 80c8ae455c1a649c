import CCrypto

/// The hash functions that fetchd supports: SHA-256, SHA-512 and SHA-1 (FIPS 180-4), MD5 (RFC 1321), and BLAKE2b (RFC 7693), which
/// minisign signs; and the cyclic redundancy checks of object stores.
///
/// libcrypto implements them. The process contains it already, because libcurl links to it.
public enum HashFunction: String, Sendable, CaseIterable {
    case sha256 = "SHA2-256"
    case sha512 = "SHA2-512"
    case sha1 = "SHA1"
    case md5 = "MD5"
    case blake2b = "BLAKE2B-512"
    case crc32, crc32c, crc64nvme

    /// The digest of these bytes.
    public func hash(_ bytes: [UInt8]) -> [UInt8] {
        var running = RunningHash(self)
        bytes.withUnsafeBytes { running.update($0) }
        return running.digest
    }

    /// nil for the functions that libcrypto has.
    var polynomial: CyclicRedundancy.Polynomial? {
        switch self {
        case .crc32: .crc32
        case .crc32c: .crc32c
        case .crc64nvme: .crc64nvme
        case .sha256, .sha512, .sha1, .md5, .blake2b: nil
        }
    }

    var implementation: OpaquePointer { Implementations.shared.pointers[self]! }
}

/// The implementations of libcrypto. They are looked up once, because a lookup by name takes longer than the hash of a
/// short text.
private struct Implementations: @unchecked Sendable {
    // The implementations belong to a separate library context. The configuration of the machine may disable MD5 or
    // SHA-1 (FIPS mode) for TLS; here they verify digests that a server or a client sends.
    static let shared = Implementations()

    let pointers: [HashFunction: OpaquePointer]

    private init() {
        let context = OSSL_LIB_CTX_new()
        pointers = Dictionary(
            uniqueKeysWithValues: HashFunction.allCases.filter { $0.polynomial == nil }.map { function in
                guard let implementation = EVP_MD_fetch(context, function.rawValue, nil) else {
                    preconditionFailure("libcrypto has no \(function.rawValue)")
                }
                return (function, implementation)
            })
    }
}

/// The incremental digest of bytes. A copy continues independently.
public struct RunningHash: Sendable {
    /// nil for a cyclic redundancy check.
    private var context: Context?
    private var redundancy: CyclicRedundancy?

    public init(_ function: HashFunction) {
        redundancy = function.polynomial.map { CyclicRedundancy($0) }
        guard redundancy == nil else { return }
        let context = Context()
        check(EVP_DigestInit_ex2(context.pointer, function.implementation, nil))
        self.context = context
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = context?.copy() }
        if let context { check(EVP_DigestUpdate(context.pointer, bytes.baseAddress, bytes.count)) }
        redundancy?.update(bytes)
    }

    /// The digest of the bytes so far. More bytes can follow.
    public var digest: [UInt8] {
        guard let last = context?.copy() else { return redundancy?.digest ?? [] }
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length: UInt32 = 0
            check(EVP_DigestFinal_ex(last.pointer, buffer.baseAddress, &length))
            count = Int(length)
        }
    }
}

/// Owns an `EVP_MD_CTX`. It is changed only while one value refers to it.
private final class Context: @unchecked Sendable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        self.pointer = pointer
    }

    deinit { EVP_MD_CTX_free(pointer) }

    func copy() -> Context {
        let copy = Context()
        check(EVP_MD_CTX_copy_ex(copy.pointer, pointer))
        return copy
    }
}

/// These calls fail only if memory is exhausted.
private func check(_ result: Int32) { precondition(result == 1, "libcrypto could not compute a digest") }

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
