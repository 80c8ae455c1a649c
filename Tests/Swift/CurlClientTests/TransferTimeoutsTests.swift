import Testing

@testable import CurlClient

@Suite struct TransferTimeoutsTests {
    let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    @Test func idleTimeStartsWithTheConnection() {
        var timeouts = TransferTimeouts(.init(idle: .seconds(10)), start: start)
        #expect(timeouts.verdict(at: at(1_000)) == .waits(until: nil))
        timeouts.progressed(at: at(1_000))
        #expect(timeouts.verdict(at: at(1_001)) == .waits(until: at(1_010)))
        #expect(timeouts.verdict(at: at(1_010)) == .hasExpired(.idle))
    }

    @Test func progressRestartsIdleTimeAndPauseStopsIt() {
        var timeouts = TransferTimeouts(.init(idle: .seconds(10)), start: start)
        timeouts.progressed(at: at(0))
        timeouts.progressed(at: at(9))
        #expect(timeouts.verdict(at: at(18)) == .waits(until: at(19)))
        timeouts.paused()
        #expect(timeouts.verdict(at: at(100)) == .waits(until: nil))
        timeouts.progressed(at: at(100))
        #expect(timeouts.verdict(at: at(101)) == .waits(until: at(110)))
    }

    @Test func totalTimeIncludesPauses() {
        var timeouts = TransferTimeouts(.init(idle: .seconds(10), total: .seconds(15)), start: start)
        #expect(timeouts.verdict(at: at(1)) == .waits(until: at(15)))
        timeouts.progressed(at: at(14))
        #expect(timeouts.verdict(at: at(14)) == .waits(until: at(15)))
        timeouts.paused()
        #expect(timeouts.verdict(at: at(15)) == .hasExpired(.total))
    }

    @Test func nothingExpiresDuringAGrace() {
        var timeouts = TransferTimeouts(.init(idle: .seconds(10), total: .seconds(100)), start: start)
        timeouts.progressed(at: at(0))
        #expect(timeouts.verdict(at: at(50), graceEnd: at(55)) == .waits(until: at(55)))
        #expect(timeouts.verdict(at: at(55), graceEnd: nil) == .hasExpired(.idle))
        timeouts.progressed(at: at(54))
        #expect(timeouts.verdict(at: at(54), graceEnd: at(55)) == .waits(until: at(64)))
        #expect(timeouts.verdict(at: at(200), graceEnd: at(205)) == .waits(until: at(205)))
    }

    @Test func noTimeoutsNeverExpire() {
        var timeouts = TransferTimeouts(.init(idle: nil), start: start)
        timeouts.progressed(at: start)
        #expect(timeouts.verdict(at: at(1_000_000)) == .waits(until: nil))
    }

    @Test(arguments: [
        (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(5), 5), (.microseconds(5_001), 6), (.seconds(-1), 0),
        (.seconds(3) + .milliseconds(2), 3_002), (.seconds(Int64.max), Int.max),
    ])
    func wholeMillisecondsRoundUp(duration: Duration, expected: Int) {
        #expect(duration.wholeMilliseconds == expected)
    }
}
