#if canImport(CryptoKit)
import CryptoKit
#endif

/// HMAC with SHA-256 (RFC 2104).
enum HMACSHA256 {
    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        #if canImport(CryptoKit)
        Array(HMAC<CryptoKit.SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        #else
        portableCode(of: message, key: key)
        #endif
    }

    /// Without a library, for systems without CryptoKit.
    static func portableCode(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > PortableSHA256.blockSize ? PortableSHA256.digest(of: key) : key
        let block = short + Array(repeating: 0, count: PortableSHA256.blockSize - short.count)
        let inner = PortableSHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return PortableSHA256.digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
