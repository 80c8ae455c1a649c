/// A histogram of durations.
public struct DurationHistogram: Sendable, Equatable {
    /// Inclusive upper bounds, ascending. Longer durations are counted in the last bucket.
    public static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(25), .milliseconds(100), .milliseconds(500), .seconds(1),
        .seconds(5),
    ]

    /// The number of durations in each bucket. There is one more bucket than there are bounds.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

    /// The sum of all durations.
    public private(set) var sum = Duration.zero

    public init() {}

    mutating func add(_ duration: Duration) {
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}
