import Downloads

/// The pieces of a file, as aria2's clients draw them. fetchd itself has none.
struct Pieces: Equatable {
    let size: Int64
    let length: Int64

    /// A large file has longer pieces than aria2's, so that their number stays small.
    init(of size: Int64) {
        self.size = max(0, size)
        var length = Self.shortest
        while self.size / length >= Self.most { length *= 2 }
        self.length = length
    }

    var count: Int { Int(size / length) + (size % length > 0 ? 1 : 0) }

    /// The complete pieces, in hexadecimal digits. The highest bit is the first piece, and bits behind the last one are 0.
    func bitfield(of received: ByteRanges) -> String {
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for range in received.ranges where range.lowerBound < size {
            let first = Int((range.lowerBound + length - 1) / length)
            let end = range.upperBound >= size ? count : Int(range.upperBound / length)
            for piece in first..<max(first, end) { bytes[piece / 8] |= 0x80 >> UInt8(piece % 8) }
        }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// aria2's default.
    private static let shortest: Int64 = 1 << 20
    private static let most: Int64 = 1024
}
