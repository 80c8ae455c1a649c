import Testing

@testable import Engine

/// The throughput of the last five minutes, in intervals of five seconds.
@Suite struct ThroughputHistoryTests {
    private func rates(_ additions: [(Int, Int64)], at now: Int, since start: Int = 0) -> [Int64] {
        var history = ThroughputHistory()
        for (moment, bytes) in additions { history.add(bytes, at: .seconds(moment)) }
        return history.rates(at: .seconds(now), since: .seconds(start))
    }

    @Test func hasOnlyCompleteIntervals() {
        #expect(rates([], at: 4).isEmpty)
        #expect(rates([(6, 50)], at: 9).isEmpty)
        #expect(rates([(6, 50)], at: 10) == [10])
        #expect(rates([(6, 50), (9, 50), (11, 5), (23, 100)], at: 25) == [20, 1, 0, 20])
        #expect(rates([], at: 20) == [0, 0, 0])
    }

    /// The interval in which the service started is not complete.
    @Test func beginsAfterTheStart() {
        #expect(rates([(103, 50), (107, 50), (111, 5)], at: 116, since: 102) == [10, 1])
        #expect(rates([(103, 50)], at: 104, since: 102).isEmpty)
    }

    @Test func keepsFiveMinutes() {
        let steady = (0..<1000).map { ($0, Int64(10)) }
        #expect(rates(steady, at: 1000) == Array(repeating: 10, count: 60))
        #expect(rates([(6, 50), (310, 5)], at: 309 + 6) == Array(repeating: 0, count: 59) + [1])
        // Nothing of the bytes before a long silence is left.
        #expect(rates(steady, at: 5000) == Array(repeating: 0, count: 60))
    }

    /// A thread that read the clock earlier does not move the history back.
    @Test func acceptsALateAddition() {
        #expect(rates([(6, 50), (11, 5), (9, 20)], at: 15) == [10, 5])
    }
}
