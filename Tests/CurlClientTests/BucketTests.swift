import Testing

@testable import CurlClient

/// Told the time, so that nothing here waits.
@Suite struct BucketTests {
    let start = ContinuousClock.now

    private func bucket(_ rate: Int64?) -> Bucket {
        Bucket(bytesPerSecond: rate, at: start)
    }

    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    /// Seconds from the start to a place's turn, in whole milliseconds; 0 when it is its turn.
    private func wait(_ bucket: inout Bucket, _ place: Bucket.Place, from seconds: Double = 0) -> Int {
        guard let turn = bucket.turn(of: place, at: at(seconds)) else { return 0 }
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
        #expect(bucket(rate).quantum(among: sharers) == expected)
    }

    @Test func turnsComeAtTheRate() {
        var bucket = bucket(1_000)
        let places = (0..<4).map { _ in bucket.book(100, at: start) }
        #expect(places.map { wait(&bucket, $0) } == [0, 100, 200, 300])
        #expect(places.map { wait(&bucket, $0, from: 0.15) } == [0, 0, 200, 300])
        #expect(places.map { wait(&bucket, $0, from: 0.3) } == [0, 0, 0, 0])
    }

    /// The moment that is told has to be late enough: who comes then must not be sent away again, for ever.
    @Test(arguments: [1, 3, 7, 1_023, 10_000, 123_456_789, Int64.max])
    func turnHasComeWhenItWasToldTo(rate: Int64) {
        var bucket = bucket(rate)
        for _ in 0..<20 {
            let place = bucket.book(1_001, at: start)
            if let turn = bucket.turn(of: place, at: start) {
                var later = bucket
                #expect(later.turn(of: place, at: turn) == nil)
            }
        }
    }

    @Test(arguments: [0.0, 0.05, 0.1, 1, 1_000])
    func silenceIsWorthATenthOfASecond(seconds: Double) {
        var bucket = bucket(1_000)
        let saved = min(seconds, 0.1)
        let places = (0..<4).map { _ in bucket.book(100, at: at(seconds)) }
        let waits = places.map { max(0, wait(&bucket, $0, from: seconds) - Int(seconds * 1_000)) }
        #expect(waits == [0, 1, 2, 3].map { max(0, Int(((0.1 * $0 - saved) * 1_000).rounded())) })
    }

    @Test func whatIsGivenBackIsForTheNext() {
        var bucket = bucket(1_000)
        _ = bucket.book(100, at: start)
        let second = bucket.book(500, at: start)
        bucket.giveBack(500)
        let third = bucket.book(100, at: start)
        #expect(wait(&bucket, second) == 100)
        #expect(wait(&bucket, third) == 100)
    }

    @Test func unlimitedNobodyWaits() {
        var bucket = bucket(nil)
        for _ in 0..<3 {
            let place = bucket.book(1 << 40, at: start)
            #expect(wait(&bucket, place) == 0)
        }
        // And nobody has to wait for what was taken then.
        bucket.change(to: 1_000, at: start)
        let place = bucket.book(100, at: start)
        #expect(wait(&bucket, place) == 0)
    }

    /// 400 bytes are booked at 1,000 a second; the last 100 have 300 ms to wait.
    @Test(
        arguments: [
            (2_000, [0, 50, 100, 150]), (10_000, [0, 10, 20, 30]), (nil, [0, 0, 0, 0]), (1_000, [0, 100, 200, 300]),
        ] as [(Int64?, [Int])])
    func higherRateLetsGoAtOnce(rate: Int64?, expected: [Int]) {
        var bucket = bucket(1_000)
        let places = (0..<4).map { _ in bucket.book(100, at: start) }
        bucket.change(to: rate, at: start)
        #expect(places.map { wait(&bucket, $0) } == expected)
    }

    @Test(arguments: [1, 100, 500, 999] as [Int64])
    func lowerRateLetsNobodyWaitLongerWhoWaitsAlready(rate: Int64) {
        var bucket = bucket(1_000)
        let places = (0..<4).map { _ in bucket.book(100, at: start) }
        bucket.change(to: rate, at: start)
        for (place, before) in zip(places, [0, 100, 200, 300]) { #expect(wait(&bucket, place) <= before) }
        // Whoever comes now waits for those before, and then by the new rate.
        let (next, nextButOne) = (bucket.book(100, at: start), bucket.book(100, at: start))
        #expect(wait(&bucket, next) == 400)
        #expect(wait(&bucket, nextButOne) == 400 + Int((100_000 / Double(rate)).rounded()))
    }

    @Test func clockThatIsReadEarlierChangesNothing() {
        var bucket = bucket(1_000)
        let place = bucket.book(100, at: at(1))
        _ = bucket.book(100, at: at(0.5))
        let last = bucket.book(100, at: at(1))
        #expect(wait(&bucket, place, from: 1) == 0)
        // As if all had been asked at second 1, with a tenth of a second saved.
        #expect(wait(&bucket, last, from: 1) == 1_100)
    }
}
