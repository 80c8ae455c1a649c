import Testing

@testable import CurlClient

/// Uses given times, so that no test waits.
@Suite struct LowSpeedMonitorTests {
    let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    /// At least 100 bytes a second, checked every 100 ms.
    private func lowSpeedMonitor() throws -> LowSpeedMonitor {
        try #require(LowSpeedMonitor(.init(bytesPerSecond: 100, over: .seconds(1))))
    }

    @Test(arguments: [nil, .init(bytesPerSecond: 0), .init(bytesPerSecond: -1)] as [TransferRequest.MinimumSpeed?])
    func noMonitorWithoutAMinimumSpeed(speed: TransferRequest.MinimumSpeed?) {
        #expect(LowSpeedMonitor(speed) == nil)
    }

    /// The bytes of each step, and the first step after which the speed is too low.
    private static let stretches: [(steps: [Int], tooSlowAfter: Int?)] = [
        (steps(10, 30), nil),
        // Never before a complete window.
        (steps(0, 30), 10), (steps(0, 9) + [100] + steps(0, 10), 20),
        (steps(10, 9) + [9], 10), (steps(10, 10) + [9], 11),
        // Bytes before the window do not count.
        ([1_000_000] + steps(0, 20), 11), ([99] + steps(0, 8) + [1, 98], 11),
    ]

    private static func steps(_ bytes: Int, _ count: Int) -> [Int] {
        Array(repeating: bytes, count: count)
    }

    @Test(arguments: stretches)
    func detectsSpeedBelowTheMinimum(steps: [Int], tooSlowAfter expected: Int?) throws {
        var lowSpeedMonitor = try lowSpeedMonitor()
        lowSpeedMonitor.started(at: start)
        var tooSlowAfter: Int?
        for (index, count) in steps.enumerated() where tooSlowAfter == nil {
            lowSpeedMonitor.received(count)
            let end = try #require(lowSpeedMonitor.nextCheck)
            #expect(end == at((index + 1) * 100))
            if lowSpeedMonitor.isTooSlow(at: end) { tooSlowAfter = index + 1 }
        }
        #expect(tooSlowAfter == expected)
    }

    @Test func earlyCheckHasNoEffect() throws {
        var lowSpeedMonitor = try lowSpeedMonitor()
        #expect(lowSpeedMonitor.nextCheck == nil)
        #expect(lowSpeedMonitor.isTooSlow(at: at(1_000_000)) == false)
        lowSpeedMonitor.started(at: start)
        for _ in 0..<100 { #expect(lowSpeedMonitor.isTooSlow(at: at(99)) == false) }
        #expect(lowSpeedMonitor.nextCheck == at(100))
    }

    @Test func lateCheckCountsAsOneStep() throws {
        var lowSpeedMonitor = try lowSpeedMonitor()
        lowSpeedMonitor.started(at: start)
        #expect(lowSpeedMonitor.isTooSlow(at: at(5_000)) == false)
        #expect(lowSpeedMonitor.nextCheck == at(5_100))
    }

    @Test func pausedTimeDoesNotCount() throws {
        var lowSpeedMonitor = try lowSpeedMonitor()
        lowSpeedMonitor.started(at: start)
        lowSpeedMonitor.paused(at: at(30))
        #expect(lowSpeedMonitor.nextCheck == nil)
        #expect(lowSpeedMonitor.isTooSlow(at: at(10_000)) == false)
        // A repeated call has no effect.
        lowSpeedMonitor.paused(at: at(10_000))
        lowSpeedMonitor.started(at: at(20_000))
        #expect(lowSpeedMonitor.nextCheck == at(20_070))
        lowSpeedMonitor.started(at: at(20_050))
        #expect(lowSpeedMonitor.nextCheck == at(20_070))
        // Paused when the check was due: the step continues after the pause.
        lowSpeedMonitor.paused(at: at(20_200))
        lowSpeedMonitor.started(at: at(30_000))
        #expect(lowSpeedMonitor.nextCheck == at(30_000))
    }

    @Test func detectsASlowServerDespitePauses() throws {
        var lowSpeedMonitor = try lowSpeedMonitor()
        var now = start
        for step in 1...10 {
            for _ in 0..<4 {
                lowSpeedMonitor.started(at: now)
                now += .milliseconds(25)
                if step < 10 || lowSpeedMonitor.nextCheck.map({ $0 > now }) == true { lowSpeedMonitor.paused(at: now) }
                if step < 10 { now += .seconds(60) }
            }
            lowSpeedMonitor.started(at: now)
            #expect(lowSpeedMonitor.isTooSlow(at: now) == (step == 10))
        }
    }

    @Test(arguments: [(Duration.zero, 10), (.milliseconds(99), 10), (.milliseconds(200), 20), (.seconds(60), 6_000)])
    func windowHasAtLeast100Milliseconds(over: Duration, step: Int) throws {
        var lowSpeedMonitor = try #require(LowSpeedMonitor(.init(bytesPerSecond: 1, over: over)))
        lowSpeedMonitor.started(at: start)
        #expect(lowSpeedMonitor.nextCheck == at(step))
    }
}
