import Hashing

/// What the receipts are compared with.
enum SHA {
    static func hexadecimal(of bytes: [UInt8]) -> String {
        HashFunction.sha256.hash(bytes).hexadecimal
    }
}
