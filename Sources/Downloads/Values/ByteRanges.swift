/// The bytes of a file that are present: half-open ranges, counted from 0, in ascending order, without overlap.
public typealias ByteRanges = RangeSet<Int64>

extension ByteRanges {
    /// The first `count` bytes.
    public init(prefix count: Int64) { self.init(0..<Swift.max(0, count)) }

    /// Pairs of first position and end, as they are stored and shown; nil if the pairs are not ascending ranges with
    /// gaps between them.
    public init?(pairs: [[Int64]]) {
        self.init()
        var end: Int64 = -1
        for pair in pairs {
            // Adjacent ranges would be one range.
            guard pair.count == 2, pair[0] > end, pair[0] >= 0, pair[1] > pair[0] else { return nil }
            end = pair[1]
            insert(contentsOf: pair[0]..<pair[1])
        }
    }

    public var pairs: [[Int64]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

    /// The number of bytes in all ranges.
    public var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// The number of bytes before the first missing byte.
    public var prefix: Int64 { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

    /// The position after the last byte.
    public var end: Int64 { ranges.last?.upperBound ?? 0 }

    public var isPrefix: Bool { prefix == end }

    /// The missing ranges of a file of this size.
    public func gaps(upTo size: Int64) -> [Range<Int64>] {
        guard size > 0 else { return [] }
        return Array(ByteRanges(0..<size).subtracting(self).ranges)
    }
}
