import Testing

@testable import CurlClient

/// Told the time, so that nothing here waits.
@Suite struct PaceTests {
    let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    /// 100 bytes in every second, judged every 100 ms.
    private func pace() throws -> Pace {
        try #require(Pace(.init(bytesPerSecond: 100, over: .seconds(1))))
    }

    @Test(arguments: [nil, .init(bytesPerSecond: 0), .init(bytesPerSecond: -1)] as [TransferRequest.MinimumSpeed?])
    func nothingIsDemanded(speed: TransferRequest.MinimumSpeed?) {
        #expect(Pace(speed) == nil)
    }

    /// What comes in each step, and the first step after which it is too little.
    private static let stretches: [(steps: [Int], tooSlowAfter: Int?)] = [
        (steps(10, 30), nil),
        // Never before the whole stretch is over.
        (steps(0, 30), 10), (steps(0, 9) + [100] + steps(0, 10), 20),
        (steps(10, 9) + [9], 10), (steps(10, 10) + [9], 11),
        // What came long ago makes up for nothing.
        ([1_000_000] + steps(0, 20), 11), ([99] + steps(0, 8) + [1, 98], 11),
    ]

    private static func steps(_ bytes: Int, _ count: Int) -> [Int] {
        Array(repeating: bytes, count: count)
    }

    @Test(arguments: stretches)
    func verdicts(steps: [Int], tooSlowAfter expected: Int?) throws {
        var pace = try pace()
        pace.started(at: start)
        var tooSlowAfter: Int?
        for (index, count) in steps.enumerated() where tooSlowAfter == nil {
            pace.received(count)
            let end = try #require(pace.nextLook)
            #expect(end == at((index + 1) * 100))
            if pace.isTooSlow(at: end) { tooSlowAfter = index + 1 }
        }
        #expect(tooSlowAfter == expected)
    }

    @Test func whoAsksTooEarlyIsToldNothing() throws {
        var pace = try pace()
        #expect(pace.nextLook == nil)
        #expect(pace.isTooSlow(at: at(1_000_000)) == false)
        pace.started(at: start)
        for _ in 0..<100 { #expect(pace.isTooSlow(at: at(99)) == false) }
        #expect(pace.nextLook == at(100))
    }

    @Test func lateLookIsOneStep() throws {
        var pace = try pace()
        pace.started(at: start)
        #expect(pace.isTooSlow(at: at(5_000)) == false)
        #expect(pace.nextLook == at(5_100))
    }

    @Test func timeStandsStillInAPause() throws {
        var pace = try pace()
        pace.started(at: start)
        pace.paused(at: at(30))
        #expect(pace.nextLook == nil)
        #expect(pace.isTooSlow(at: at(10_000)) == false)
        // Nor does a second word of it change anything.
        pace.paused(at: at(10_000))
        pace.started(at: at(20_000))
        #expect(pace.nextLook == at(20_070))
        pace.started(at: at(20_050))
        #expect(pace.nextLook == at(20_070))
        // Paused when the look was due: it is made up for.
        pace.paused(at: at(20_200))
        pace.started(at: at(30_000))
        #expect(pace.nextLook == at(30_000))
    }

    @Test func pausesDoNotHideASlowServer() throws {
        var pace = try pace()
        var now = start
        for step in 1...10 {
            for _ in 0..<4 {
                pace.started(at: now)
                now += .milliseconds(25)
                if step < 10 || pace.nextLook.map({ $0 > now }) == true { pace.paused(at: now) }
                if step < 10 { now += .seconds(60) }
            }
            pace.started(at: now)
            #expect(pace.isTooSlow(at: now) == (step == 10))
        }
    }

    @Test(arguments: [(Duration.zero, 10), (.milliseconds(99), 10), (.milliseconds(200), 20), (.seconds(60), 6_000)])
    func stretchIsATenthOfASecondAtLeast(over: Duration, step: Int) throws {
        var pace = try #require(Pace(.init(bytesPerSecond: 1, over: over)))
        pace.started(at: start)
        #expect(pace.nextLook == at(step))
    }
}
