/// A distribution of values at one moment.
public struct Histogram: Sendable, Equatable {
    /// Inclusive upper bounds of the buckets, ascending.
    public var bounds: [Double]
    /// The number of values in each bucket; the last number counts the values above all bounds.
    public var counts: [Int]
    /// The sum of all values.
    public var sum: Double

    public init(bounds: [Double], counts: [Int], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }
}
