import Foundation

/// How often something was how large.
public struct Histogram: Sendable {
    /// Upper bounds, ascending.
    public var bounds: [Double]
    /// How many were not above each bound, but above the one before; last, how many were above all.
    public var counts: [Int]
    /// Of all of them together.
    public var sum: Double

    public init(bounds: [Double], counts: [Int], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }
}
