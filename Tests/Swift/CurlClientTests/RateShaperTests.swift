import Testing

@testable import CurlClient

/// Uses given times, so that no test waits.
@Suite struct RateShaperTests {
    let start = ContinuousClock.now

    private func shaper(_ rate: Int64?) -> RateShaper {
        RateShaper(bytesPerSecond: rate, at: start)
    }

    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    /// Milliseconds from the start until the reservation is ready; 0 if it is ready now.
    private func wait(_ shaper: inout RateShaper, _ position: RateShaper.Position, from seconds: Double = 0) -> Int {
        guard let turn = shaper.readyTime(of: position, at: at(seconds)) else { return 0 }
        return Int(((turn - start) / .milliseconds(1)).rounded())
    }

    @Test(
        arguments: [
            (nil, 1, nil), (1_000_000, 1, 100_000), (1_000_000, 0, 100_000), (1_000_000, 4, 25_000),
            // Large enough to be worth a wake-up, and at most a tenth of a second of the rate.
            (1_000_000, 1_000, 1_024), (20_000, 2, 1_024), (5_000, 1, 500), (5_000, 10, 500), (1, 1, 1), (9, 3, 1),
            (.max, 1, Int(Int64.max / 10)),
        ] as [(Int64?, Int, Int?)])
    func quantumDependsOnRateAndSharers(rate: Int64?, sharers: Int, expected: Int?) {
        #expect(shaper(rate).quantum(among: sharers) == expected)
    }

    @Test func reservationsBecomeReadyAtTheRate() {
        var shaper = shaper(1_000)
        let positions = (0..<4).map { _ in shaper.reserve(100, at: start) }
        #expect(positions.map { wait(&shaper, $0) } == [0, 100, 200, 300])
        #expect(positions.map { wait(&shaper, $0, from: 0.15) } == [0, 0, 200, 300])
        #expect(positions.map { wait(&shaper, $0, from: 0.3) } == [0, 0, 0, 0])
    }

    /// The ready time must be late enough. Otherwise a caller that checks then would have to wait again, for ever.
    @Test(arguments: [1, 3, 7, 1_023, 10_000, 123_456_789, Int64.max])
    func reservationIsReadyAtItsReadyTime(rate: Int64) {
        var shaper = shaper(rate)
        for _ in 0..<20 {
            let position = shaper.reserve(1_001, at: start)
            if let turn = shaper.readyTime(of: position, at: start) {
                var later = shaper
                #expect(later.readyTime(of: position, at: turn) == nil)
            }
        }
    }

    @Test(arguments: [0.0, 0.05, 0.1, 1, 1_000])
    func idleTimeAllowsABurstOfATenthOfASecond(seconds: Double) {
        var shaper = shaper(1_000)
        let saved = min(seconds, 0.1)
        let positions = (0..<4).map { _ in shaper.reserve(100, at: at(seconds)) }
        let waits = positions.map { max(0, wait(&shaper, $0, from: seconds) - Int(seconds * 1_000)) }
        #expect(waits == [0, 1, 2, 3].map { max(0, Int(((0.1 * $0 - saved) * 1_000).rounded())) })
    }

    @Test func refundedBytesGoToTheNextReservation() {
        var shaper = shaper(1_000)
        _ = shaper.reserve(100, at: start)
        let second = shaper.reserve(500, at: start)
        shaper.refund(500)
        let third = shaper.reserve(100, at: start)
        #expect(wait(&shaper, second) == 100)
        #expect(wait(&shaper, third) == 100)
    }

    @Test func unlimitedReservationsAreReadyAtOnce() {
        var shaper = shaper(nil)
        for _ in 0..<3 {
            let position = shaper.reserve(1 << 40, at: start)
            #expect(wait(&shaper, position) == 0)
        }
        // Later reservations do not wait for these bytes.
        shaper.setRate(1_000, at: start)
        let position = shaper.reserve(100, at: start)
        #expect(wait(&shaper, position) == 0)
    }

    /// 400 bytes are reserved at 1,000 a second. The last 100 wait 300 ms.
    @Test(
        arguments: [
            (2_000, [0, 50, 100, 150]), (10_000, [0, 10, 20, 30]), (nil, [0, 0, 0, 0]), (1_000, [0, 100, 200, 300]),
        ] as [(Int64?, [Int])])
    func higherRateShortensWaits(rate: Int64?, expected: [Int]) {
        var shaper = shaper(1_000)
        let positions = (0..<4).map { _ in shaper.reserve(100, at: start) }
        shaper.setRate(rate, at: start)
        #expect(positions.map { wait(&shaper, $0) } == expected)
    }

    @Test(arguments: [1, 100, 500, 999] as [Int64])
    func lowerRateDoesNotProlongExistingReservations(rate: Int64) {
        var shaper = shaper(1_000)
        let positions = (0..<4).map { _ in shaper.reserve(100, at: start) }
        shaper.setRate(rate, at: start)
        for (position, before) in zip(positions, [0, 100, 200, 300]) { #expect(wait(&shaper, position) <= before) }
        // A new reservation waits for the earlier ones, and then at the new rate.
        let (next, nextButOne) = (shaper.reserve(100, at: start), shaper.reserve(100, at: start))
        #expect(wait(&shaper, next) == 400)
        #expect(wait(&shaper, nextButOne) == 400 + Int((100_000 / Double(rate)).rounded()))
    }

    @Test func earlierTimeHasNoEffect() {
        var shaper = shaper(1_000)
        let position = shaper.reserve(100, at: at(1))
        _ = shaper.reserve(100, at: at(0.5))
        let last = shaper.reserve(100, at: at(1))
        #expect(wait(&shaper, position, from: 1) == 0)
        // As if all calls came at second 1, with a saved burst of a tenth of a second.
        #expect(wait(&shaper, last, from: 1) == 1_100)
    }
}
