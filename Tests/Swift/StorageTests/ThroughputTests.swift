import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// The bytes of each minute of the last week.
@Suite struct ThroughputTests {
    private let folder: TemporaryFolder
    /// A full minute.
    private let time = ManualTime(Date(timeIntervalSince1970: 1_200_000_000))
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(at: folder.path, time: time)
    }

    private func add(_ bytes: Int64, minutesAgo minutes: Double) async throws {
        try await store.addThroughput(bytes, at: store.time.now.addingTimeInterval(-60 * minutes))
    }

    @Test func hasAnHourByMinutesAndAWeekByHours() async throws {
        let empty = try await store.throughput()
        #expect(empty.end == time.now)
        #expect(empty.hour == .init(interval: 1, count: 60, bytes: [:]) && empty.hour.rates.count == 60)
        #expect(empty.week.rates == Array(repeating: 0, count: 168))

        try await add(600, minutesAgo: 0.5)
        try await add(600, minutesAgo: 0.9)
        try await add(6000, minutesAgo: 1)
        try await add(60, minutesAgo: 60)
        try await add(36_000, minutesAgo: 61)
        try await add(3_600_000, minutesAgo: 10_080)
        let record = try await store.throughput()
        #expect(record.hour.rates == [1] + Array(repeating: 0, count: 57) + [0, 120])
        #expect(record.week.rates == [1000] + Array(repeating: 0, count: 165) + [10, 2])
    }

    @Test func leavesOutThePresentMinuteAndTimesOutsideTheWeek() async throws {
        try await add(6000, minutesAgo: 0)
        try await add(6000, minutesAgo: -500_000)
        try await add(6000, minutesAgo: 10_081)
        let record = try await store.throughput()
        #expect(record.hour.rates.allSatisfy { $0 == 0 } && record.week.rates.allSatisfy { $0 == 0 })
    }

    @Test func isTheSameAfterARestart() async throws {
        try await add(6000, minutesAgo: 3)
        let before = try await store.throughput()
        try await store.close()
        let reopened = try Store(at: folder.path, time: time)
        #expect(try await reopened.throughput() == before)
        #expect(before.hour.rates.contains(100))
    }

    /// Also after many weeks, and after each jump of the clock.
    @Test func keepsAWeekOfMinutesAtMost() async throws {
        let oldest = Store.minute(of: time.now) - 20_000
        try await store.writer.write { transaction in
            for minute in oldest..<oldest + 15_000 {
                try transaction.run("INSERT INTO throughput VALUES (?, 1)", [minute])
            }
        }
        try await add(60, minutesAgo: 1)
        let minutes = try await store.read { db in try db.values("SELECT minute FROM throughput", as: Int.self) }
        #expect(minutes.count == ThroughputRecord.mostMinutes)
        #expect(minutes.min() == oldest + 15_001 - ThroughputRecord.mostMinutes)
    }

    @Test func readsOnlyTheRangeOfItsTable() async throws {
        let plan = try await store.pool.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + Store.throughputSums)
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.hasPrefix("SEARCH throughput USING INTEGER PRIMARY KEY") }, "\(plan)")
    }
}
