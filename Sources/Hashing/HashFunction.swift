import CCrypto

/// The hash functions that fetchd supports: SHA-256, SHA-512 and SHA-1 (FIPS 180-4), and MD5 (RFC 1321).
///
/// libcrypto implements them. The process contains it already, because libcurl links to it.
public enum HashFunction: String, Sendable, CaseIterable {
    case sha256 = "SHA2-256"
    case sha512 = "SHA2-512"
    case sha1 = "SHA1"
    case md5 = "MD5"

    /// The digest of these bytes.
    public func hash(_ bytes: [UInt8]) -> [UInt8] {
        var running = RunningHash(self)
        bytes.withUnsafeBytes { running.update($0) }
        return running.digest
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
            uniqueKeysWithValues: HashFunction.allCases.map { function in
                guard let implementation = EVP_MD_fetch(context, function.rawValue, nil) else {
                    preconditionFailure("libcrypto has no \(function.rawValue)")
                }
                return (function, implementation)
            })
    }
}

extension Sequence<UInt8> {
    /// Two lowercase digits for each byte.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
