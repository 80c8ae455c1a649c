import Testing

@testable import CurlClient

/// Told the time, so that nothing here waits.
@Suite struct RateShaperTests {
    let start = ContinuousClock.now

    private func shaper(_ rate: Int64?) -> RateShaper {
        RateShaper(bytesPerSecond: rate, at: start)
    }

    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    /// Seconds from the start to a place's turn, in whole milliseconds; 0 when it is its turn.
    private func wait(_ shaper: inout RateShaper, _ place: RateShaper.Position, from seconds: Double = 0) -> Int {
        guard let turn = shaper.readyTime(of: place, at: at(seconds)) else { return 0 }
        return Int(((turn - start) / .milliseconds(1)).rounded())
    }

    @Test(
        arguments: [
            (nil, 1, nil), (1_000_000, 1, 100_000), (1_000_000, 0, 100_000), (1_000_000, 4, 25_000),
            // Not so little that it is not worth the wake-up, and never more than a tenth of a second's worth.
            (1_000_000, 1_000, 1_024), (20_000, 2, 1_024), (5_000, 1, 500), (5_000, 10, 500), (1, 1, 1), (9, 3, 1),
            (.max, 1, Int(Int64.max / 10)),
        ] as [(Int64?, Int, Int?)])
    func quantum(rate: Int64?, sharers: Int, expected: Int?) {
        #expect(shaper(rate).quantum(among: sharers) == expected)
    }

    @Test func turnsComeAtTheRate() {
        var shaper = shaper(1_000)
        let places = (0..<4).map { _ in shaper.reserve(100, at: start) }
        #expect(places.map { wait(&shaper, $0) } == [0, 100, 200, 300])
        #expect(places.map { wait(&shaper, $0, from: 0.15) } == [0, 0, 200, 300])
        #expect(places.map { wait(&shaper, $0, from: 0.3) } == [0, 0, 0, 0])
    }

    /// The moment that is told has to be late enough: who comes then must not be sent away again, for ever.
    @Test(arguments: [1, 3, 7, 1_023, 10_000, 123_456_789, Int64.max])
    func turnHasComeWhenItWasToldTo(rate: Int64) {
        var shaper = shaper(rate)
        for _ in 0..<20 {
            let place = shaper.reserve(1_001, at: start)
            if let turn = shaper.readyTime(of: place, at: start) {
                var later = shaper
                #expect(later.readyTime(of: place, at: turn) == nil)
            }
        }
    }

    @Test(arguments: [0.0, 0.05, 0.1, 1, 1_000])
    func silenceIsWorthATenthOfASecond(seconds: Double) {
        var shaper = shaper(1_000)
        let saved = min(seconds, 0.1)
        let places = (0..<4).map { _ in shaper.reserve(100, at: at(seconds)) }
        let waits = places.map { max(0, wait(&shaper, $0, from: seconds) - Int(seconds * 1_000)) }
        #expect(waits == [0, 1, 2, 3].map { max(0, Int(((0.1 * $0 - saved) * 1_000).rounded())) })
    }

    @Test func whatIsGivenBackIsForTheNext() {
        var shaper = shaper(1_000)
        _ = shaper.reserve(100, at: start)
        let second = shaper.reserve(500, at: start)
        shaper.refund(500)
        let third = shaper.reserve(100, at: start)
        #expect(wait(&shaper, second) == 100)
        #expect(wait(&shaper, third) == 100)
    }

    @Test func unlimitedNobodyWaits() {
        var shaper = shaper(nil)
        for _ in 0..<3 {
            let place = shaper.reserve(1 << 40, at: start)
            #expect(wait(&shaper, place) == 0)
        }
        // And nobody has to wait for what was taken then.
        shaper.setRate(1_000, at: start)
        let place = shaper.reserve(100, at: start)
        #expect(wait(&shaper, place) == 0)
    }

    /// 400 bytes are booked at 1,000 a second; the last 100 have 300 ms to wait.
    @Test(
        arguments: [
            (2_000, [0, 50, 100, 150]), (10_000, [0, 10, 20, 30]), (nil, [0, 0, 0, 0]), (1_000, [0, 100, 200, 300]),
        ] as [(Int64?, [Int])])
    func higherRateLetsGoAtOnce(rate: Int64?, expected: [Int]) {
        var shaper = shaper(1_000)
        let places = (0..<4).map { _ in shaper.reserve(100, at: start) }
        shaper.setRate(rate, at: start)
        #expect(places.map { wait(&shaper, $0) } == expected)
    }

    @Test(arguments: [1, 100, 500, 999] as [Int64])
    func lowerRateLetsNobodyWaitLongerWhoWaitsAlready(rate: Int64) {
        var shaper = shaper(1_000)
        let places = (0..<4).map { _ in shaper.reserve(100, at: start) }
        shaper.setRate(rate, at: start)
        for (place, before) in zip(places, [0, 100, 200, 300]) { #expect(wait(&shaper, place) <= before) }
        // Whoever comes now waits for those before, and then by the new rate.
        let (next, nextButOne) = (shaper.reserve(100, at: start), shaper.reserve(100, at: start))
        #expect(wait(&shaper, next) == 400)
        #expect(wait(&shaper, nextButOne) == 400 + Int((100_000 / Double(rate)).rounded()))
    }

    @Test func clockThatIsReadEarlierChangesNothing() {
        var shaper = shaper(1_000)
        let place = shaper.reserve(100, at: at(1))
        _ = shaper.reserve(100, at: at(0.5))
        let last = shaper.reserve(100, at: at(1))
        #expect(wait(&shaper, place, from: 1) == 0)
        // As if all had been asked at second 1, with a tenth of a second saved.
        #expect(wait(&shaper, last, from: 1) == 1_100)
    }
}
