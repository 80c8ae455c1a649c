/// Which bytes of a file are there: in ascending order, without overlap, counted from 0, the end of each not included.
public typealias ByteRanges = RangeSet<Int64>

extension ByteRanges {
    /// The first so many bytes.
    public init(prefix count: Int64) { self.init(0..<Swift.max(0, count)) }

    /// Pairs of first and end, as they are stored and shown; nil where they are not what this type says.
    public init?(pairs: [[Int64]]) {
        self.init()
        var end: Int64 = -1
        for pair in pairs {
            // Neighbours that touch would be one range.
            guard pair.count == 2, pair[0] > end, pair[0] >= 0, pair[1] > pair[0] else { return nil }
            end = pair[1]
            insert(contentsOf: pair[0]..<pair[1])
        }
    }

    public var pairs: [[Int64]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

    /// Bytes altogether.
    public var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// Bytes from the beginning on, up to the first that is missing.
    public var prefix: Int64 { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

    /// Behind the last byte.
    public var end: Int64 { ranges.last?.upperBound ?? 0 }

    public var isPrefix: Bool { prefix == end }

    /// What is missing of a file of that size.
    public func gaps(upTo size: Int64) -> [Range<Int64>] {
        guard size > 0 else { return [] }
        return Array(ByteRanges(0..<size).subtracting(self).ranges)
    }
}
