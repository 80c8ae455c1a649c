/// A cyclic redundancy check, which detects accidents and no attacks. Eight tables process eight bytes in one step (Kounavis and
/// Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC Generation", 2008).
struct CyclicRedundancy: Sendable {
    private let polynomial: Polynomial
    /// All of it: a check that begins with this state continues the one that had it.
    private(set) var state: UInt64

    /// Of checks whose bits are reflected, whose state begins with ones, and whose result is inverted.
    struct Polynomial: Sendable {
        /// In bytes.
        let size: Int
        /// `tables[n][b]` is the state after the byte `b` and `n` zero bytes.
        fileprivate let tables: [UInt64]

        /// ISO 3309, as in zlib and gzip.
        static let crc32 = Polynomial(0xEDB8_8320, size: 4)
        /// RFC 9260, appendix A.
        static let crc32c = Polynomial(0x82F6_3B78, size: 4)
        /// NVM Express NVM Command Set Specification 1.0, section 5.2.1.3.4.
        static let crc64nvme = Polynomial(0x9A6C_9329_AC4B_C9B5, size: 8)

        private init(_ reflected: UInt64, size: Int) {
            self.size = size
            var tables = [UInt64](repeating: 0, count: 8 * 256)
            for byte in 0..<256 {
                tables[byte] = (0..<8).reduce(UInt64(byte)) { state, _ in state >> 1 ^ (state & 1) &* reflected }
            }
            for index in 256..<tables.count {
                let before = tables[index - 256]
                tables[index] = before >> 8 ^ tables[Int(before & 255)]
            }
            self.tables = tables
        }
    }

    /// - Parameter state: nil: no byte so far.
    init(_ polynomial: Polynomial, state: UInt64? = nil) {
        self.polynomial = polynomial
        self.state = state ?? .max >> (64 - 8 * UInt64(polynomial.size))
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var (state, offset) = (state, 0)
        polynomial.tables.withUnsafeBufferPointer { tables in
            while offset + 8 <= bytes.count {
                let mixed = state ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                state = 0
                for byte in 0..<8 { state ^= tables[(7 - byte) << 8 | Int(mixed >> (8 * UInt64(byte)) & 255)] }
                offset += 8
            }
            for byte in bytes[offset...] { state = state >> 8 ^ tables[Int((state ^ UInt64(byte)) & 255)] }
        }
        self.state = state
    }

    /// With the highest byte first.
    var digest: [UInt8] {
        (0..<polynomial.size).reversed().map { UInt8(truncatingIfNeeded: ~state >> (8 * UInt64($0))) }
    }
}
