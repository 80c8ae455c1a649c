/// Servers that send an encoded representation, and say so.
extension OriginBehaviour {
    /// gzip although the client did not accept it (RFC 9110, section 8.4.1.3): the validators identify the encoded
    /// bytes.
    public static var gzipped: OriginBehaviour {
        OriginBehaviour(spoil: { answer, _ in
            guard answer.status == 200 || answer.status == 206 else { return }
            answer.body = Gzip.member(of: answer.body)
            answer.set("Content-Encoding", "gzip")
        })
    }
}

/// gzip (RFC 1952) without compression; it only has to be a different sequence of bytes.
public enum Gzip {
    public static func member(of bytes: [UInt8]) -> [UInt8] {
        let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        return header + blocks(of: bytes) + littleEndian(checksum(of: bytes)) + littleEndian(UInt32(bytes.count))
    }

    /// Stored blocks (RFC 1951, section 3.2.4), of at most 65,535 bytes each.
    private static func blocks(of bytes: [UInt8]) -> [UInt8] {
        var coded: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            coded += [rest.isEmpty ? 1 : 0] + littleEndian(length) + littleEndian(~length) + block
        } while !rest.isEmpty
        return coded
    }

    /// CRC-32 (RFC 1952, section 8).
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { checksum, byte in
            table[Int(UInt8(truncatingIfNeeded: checksum) ^ byte)] ^ (checksum >> 8)
        }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in (value >> 1) ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    }

    private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian, Array.init)
    }
}
