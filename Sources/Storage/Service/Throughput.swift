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

extension Store {
    /// Adds bytes, more than 0, to the minute of a moment. At most `ThroughputRecord.mostMinutes` minutes are kept: those with the
    /// latest times.
    public func addThroughput(_ bytes: Int64, at moment: Date) async throws {
        try await writer.write { transaction in
            try transaction.run(
                """
                INSERT INTO throughput (minute, bytes) VALUES (?, ?)
                ON CONFLICT (minute) DO UPDATE SET bytes = throughput.bytes + excluded.bytes
                """, [Self.minute(of: moment), bytes])
            try transaction.run(Self.dropOldThroughput, [ThroughputRecord.mostMinutes])
        }
    }

    public func throughput() async throws(StoreError) -> ThroughputRecord {
        let now = time.now
        return try await read { db in
            let end = Self.minute(of: now)
            return ThroughputRecord(
                end: Date(timeIntervalSince1970: TimeInterval(end * 60)),
                hour: try Self.series(interval: 1, count: 60, until: end, in: db),
                week: try Self.series(interval: 60, count: 168, until: end, in: db))
        }
    }

    /// The minutes between 1970 and a moment.
    static func minute(of moment: Date) -> Int { Int((moment.timeIntervalSince1970 / 60).rounded(.down)) }

    private static func series(
        interval: Int, count: Int, until end: Int, in db: SQLConnection
    ) throws -> ThroughputRecord.Series {
        let rows = try db.rows(throughputSums, [end - 1, interval, end - interval * count, end])
        return ThroughputRecord.Series(
            interval: interval, count: count,
            bytes: try rows.reduce(into: [:]) { try $0[$1["ago"] as Int] = $1["bytes"] as Int64 })
    }

    static let throughputSums = """
        SELECT (? - minute) / ? AS ago, sum(bytes) AS bytes FROM throughput
        WHERE minute >= ? AND minute < ? GROUP BY 1
        """

    static let dropOldThroughput = """
        DELETE FROM throughput
        WHERE minute <= (SELECT minute FROM throughput ORDER BY minute DESC LIMIT 1 OFFSET ?)
        """
}
