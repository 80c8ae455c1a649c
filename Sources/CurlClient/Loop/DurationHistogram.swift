/// How often something took how long: a count for each bound, cheap to add to and to read.
public struct DurationHistogram: Sendable, Equatable {
    /// Upper bounds, each included, in ascending order. What is longer than the last is counted behind it.
    public static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(25), .milliseconds(100), .milliseconds(500), .seconds(1),
        .seconds(5),
    ]

    /// One more than there are bounds; each duration is counted once.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

    /// Of all durations together.
    public private(set) var sum = Duration.zero

    public init() {}

    mutating func add(_ duration: Duration) {
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}
