import Base

/// SHA-256, for comparison with receipts.
enum SHA {
    static func hexadecimal(of bytes: [UInt8]) -> String {
        HashFunction.sha256.hash(bytes).hexadecimal
    }
}
