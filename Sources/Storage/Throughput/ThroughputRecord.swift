import Foundation

/// The bytes that all transfers together received in the last hour and in the last week, also before a restart.
public struct ThroughputRecord: Sendable, Equatable {
    /// The end of the last interval of both series: the beginning of the present minute.
    public var end: Date
    /// By minutes.
    public var hour: Series
    /// By hours. The hours are not those of a clock: the last one ends at `end`.
    public var week: Series

    public struct Series: Sendable, Equatable {
        /// The length of an interval, in minutes.
        public var interval: Int
        /// Bytes per second in each interval, the oldest first.
        public var rates: [Int64]

        /// - Parameter bytes: of the intervals that have any, by the number of intervals between them and the last one.
        init(interval: Int, count: Int, bytes: [Int: Int64]) {
            self.interval = interval
            rates = (0..<count).reversed().map { (bytes[$0] ?? 0) / Int64(interval * 60) }
        }
    }

    /// The number of minutes that are kept: a week.
    public static let mostMinutes = 10_080
}
