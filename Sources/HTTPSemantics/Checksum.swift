/// A digest of the bytes of a file, with its algorithm.
public struct Checksum: Sendable, Hashable, Codable {
    public let algorithm: Algorithm
    /// Lowercase hexadecimal.
    public let value: String

    public enum Algorithm: String, Sendable, CaseIterable, Codable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
        case sha1 = "sha-1"
        case md5

        /// The size of a digest in bytes.
        public var size: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            case .sha1: 20
            case .md5: 16
            }
        }
    }

    /// nil if the number of digits is not that of the algorithm, or if the text is not hexadecimal.
    ///
    /// - Parameter text: in upper or lower case.
    public init?(_ algorithm: Algorithm, hexadecimal text: String) {
        // Checks bytes, because Swift also accepts full-width characters as hexadecimal digits.
        guard text.utf8.count == 2 * algorithm.size, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        self.algorithm = algorithm
        value = text.lowercased()
    }

    /// nil if the number of bytes is not that of the algorithm.
    public init?(_ algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.size else { return nil }
        self.algorithm = algorithm
        value = Self.hexadecimal(bytes)
    }

    /// In lowercase.
    public static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
