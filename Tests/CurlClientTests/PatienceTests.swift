import Testing

@testable import CurlClient

@Suite struct PatienceTests {
    let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    @Test func idleTimeBeginsWithTheConnection() {
        var patience = Patience(.init(idle: .seconds(10)), start: start)
        #expect(patience.verdict(at: at(1_000)) == .waits(until: nil))
        patience.progressed(at: at(1_000))
        #expect(patience.verdict(at: at(1_001)) == .waits(until: at(1_010)))
        #expect(patience.verdict(at: at(1_010)) == .isExhausted(.idle))
    }

    @Test func progressStartsItAnewAndAPauseStopsIt() {
        var patience = Patience(.init(idle: .seconds(10)), start: start)
        patience.progressed(at: at(0))
        patience.progressed(at: at(9))
        #expect(patience.verdict(at: at(18)) == .waits(until: at(19)))
        patience.paused()
        #expect(patience.verdict(at: at(100)) == .waits(until: nil))
        patience.progressed(at: at(100))
        #expect(patience.verdict(at: at(101)) == .waits(until: at(110)))
    }

    @Test func totalTimeStopsForNothing() {
        var patience = Patience(.init(idle: .seconds(10), total: .seconds(15)), start: start)
        #expect(patience.verdict(at: at(1)) == .waits(until: at(15)))
        patience.progressed(at: at(14))
        #expect(patience.verdict(at: at(14)) == .waits(until: at(15)))
        patience.paused()
        #expect(patience.verdict(at: at(15)) == .isExhausted(.total))
    }

    @Test func withoutDeadlinesItIsEndless() {
        var patience = Patience(.init(idle: nil), start: start)
        patience.progressed(at: start)
        #expect(patience.verdict(at: at(1_000_000)) == .waits(until: nil))
    }

    @Test(arguments: [
        (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(5), 5), (.microseconds(5_001), 6), (.seconds(-1), 0),
        (.seconds(3) + .milliseconds(2), 3_002), (.seconds(Int64.max), Int.max),
    ])
    func wholeMilliseconds(duration: Duration, expected: Int) {
        #expect(duration.wholeMilliseconds == expected)
    }
}
