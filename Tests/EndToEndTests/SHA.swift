import Crypto

/// What the receipts are compared with.
enum SHA {
    static func hexadecimal(of bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
