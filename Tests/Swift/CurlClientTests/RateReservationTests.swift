import Testing

@testable import CurlClient

/// Reservations under limits, with given times: the exact counterpart of `RateLimitTests`.
@Suite struct RateReservationTests {
    /// Transfers that always have more bytes to receive.
    private struct Race {
        let piece: Int
        var reservations: [RateReservation]
        var taken: [Int]
        var now: ContinuousClock.Instant

        init(_ limits: [[RateLimit]], piece: Int, mailbox: Mailbox, at start: ContinuousClock.Instant) {
            self.piece = piece
            reservations = limits.map { RateReservation(of: TransferID(), under: $0, mailbox: mailbox) }
            taken = limits.map { _ in 0 }
            now = start
        }

        /// Runs from one ready time to the next.
        mutating func run(for duration: Duration) {
            let end = now + duration
            while true {
                let next = reservations.indices.map { serve($0) }.min() ?? end
                guard next < end else { break }
                now = next
            }
            now = end
        }

        private mutating func serve(_ index: Int) -> ContinuousClock.Instant {
            while true {
                if let turn = reservations[index].readyTime(at: now) { return turn }
                reservations[index].take(piece)
                taken[index] += piece
            }
        }
    }

    private let mailbox: Mailbox
    /// Later than the clock that the limits read.
    private let start = ContinuousClock.now + .seconds(3_600)

    init() throws {
        mailbox = try Mailbox()
    }

    private func race(_ limits: [[RateLimit]], piece: Int = 1_024) -> Race {
        Race(limits, piece: piece, mailbox: mailbox, at: start)
    }

    /// The bytes of ten seconds, the burst of a fifth of a second, and one indivisible piece.
    private func allowance(_ rate: Int) -> ClosedRange<Int> {
        (rate * 10 - 16_384)...(rate * 102 / 10 + 16_384)
    }

    @Test(arguments: [1_000, 20_000, 1_000_000, 50_000_000], [1_024, 16_384])
    func averageRateHoldsForAnyPieceSize(rate: Int, piece: Int) {
        var race = race([[RateLimit(bytesPerSecond: Int64(rate))]], piece: piece)
        race.run(for: .seconds(10))
        #expect(allowance(rate).contains(race.taken[0]))
    }

    @Test(arguments: [2, 3, 10, 100])
    func transfersShareEvenly(count: Int) {
        let limit = RateLimit(bytesPerSecond: 2_000_000)
        var race = race(Array(repeating: [limit], count: count))
        // The first transfer shares with no other.
        race.run(for: .seconds(2))
        let before = race.taken
        race.run(for: .seconds(10))
        let shares = zip(race.taken, before).map { $0 - $1 }
        #expect(shares.reduce(0, +) <= allowance(2_000_000).upperBound + count * 1_024)
        let even = 20_000_000 / count
        #expect(shares.allSatisfy { abs($0 - even) <= even / 10 }, "\(shares)")
    }

    @Test func lowestLimitDecides() {
        for rates: [Int64?] in [[50_000, 1_000_000], [1_000_000, 50_000], [50_000, nil], [50_000, .max]] {
            var race = race([rates.map { RateLimit(bytesPerSecond: $0) }])
            race.run(for: .seconds(10))
            #expect(allowance(50_000).contains(race.taken[0]), "\(rates)")
        }
    }

    /// As for a job with its own limit in a session: its unused share of the common limit goes to the others.
    @Test func unusedShareGoesToOtherTransfers() {
        let (shared, own) = (RateLimit(bytesPerSecond: 1_000_000), RateLimit(bytesPerSecond: 100_000))
        var race = race([[shared, own], [shared]])
        race.run(for: .seconds(10))
        #expect(allowance(100_000).contains(race.taken[0]))
        #expect(race.taken[1] >= 8_000_000)
        #expect(race.taken.reduce(0, +) <= allowance(1_000_000).upperBound)
    }

    @Test func duplicateLimitCountsOnce() {
        let limit = RateLimit(bytesPerSecond: 100_000)
        var race = race([[limit, limit]])
        race.run(for: .seconds(10))
        #expect(allowance(100_000).contains(race.taken[0]))
    }

    @Test func closeReturnsTheReservation() {
        let limit = RateLimit(bytesPerSecond: 10_000)
        var first = RateReservation(of: TransferID(), under: [limit], mailbox: mailbox)
        // Continues until it has to wait.
        while first.readyTime(at: start) == nil { first.take(100) }
        var others = (0..<10).map { _ in RateReservation(of: TransferID(), under: [limit], mailbox: mailbox) }
        for index in others.indices { #expect(others[index].readyTime(at: start) != nil) }
        var last = RateReservation(of: TransferID(), under: [limit], mailbox: mailbox)
        let patient = last.readyTime(at: start) ?? start
        last.close(at: start)
        for index in others.indices { others[index].close(at: start) }
        var next = RateReservation(of: TransferID(), under: [limit], mailbox: mailbox)
        let turn = next.readyTime(at: start) ?? start
        #expect(turn < patient - .milliseconds(500))
        #expect(turn <= start + .milliseconds(201))
        first.close(at: start)
        next.close(at: start)
        #expect(limit.quantum == 1_000)
    }

    @Test func closeReturnsUnusedCredit() {
        let limit = RateLimit(bytesPerSecond: 10_000)
        for _ in 0..<100 {
            var reservation = RateReservation(of: TransferID(), under: [limit], mailbox: mailbox)
            #expect(reservation.readyTime(at: start) == nil)
            reservation.take(1)
            reservation.close(at: start)
        }
    }

    @Test func debtDelaysLaterTransfers() {
        let limit = RateLimit(bytesPerSecond: 10_000)
        var first = RateReservation(of: TransferID(), under: [limit], mailbox: mailbox)
        #expect(first.readyTime(at: start) == nil)
        first.take(50_000)
        first.close(at: start)
        var next = RateReservation(of: TransferID(), under: [limit], mailbox: mailbox)
        let turn = next.readyTime(at: start) ?? start
        #expect(turn > start + .milliseconds(4_700))
        #expect(turn < start + .milliseconds(5_100))
    }

    @Test func unlimitedNeverWaits() {
        let limits = [RateLimit(bytesPerSecond: nil), RateLimit(bytesPerSecond: nil)]
        for limits in [[], limits] {
            var reservation = RateReservation(of: TransferID(), under: limits, mailbox: mailbox)
            for _ in 0..<1_000 {
                #expect(reservation.readyTime(at: start) == nil && reservation.isUnlimited)
                reservation.take(16_384)
            }
            reservation.close(at: start)
        }
        // Bytes received without a limit do not count after a limit is set.
        for limit in limits { limit.bytesPerSecond = 1_000 }
        var next = RateReservation(of: TransferID(), under: limits, mailbox: mailbox)
        #expect(next.readyTime(at: start) == nil && !next.isUnlimited)
    }

    @Test func removedLimitEndsTheWait() {
        let limits = [RateLimit(bytesPerSecond: 1_000), RateLimit(bytesPerSecond: nil)]
        var reservation = RateReservation(of: TransferID(), under: limits, mailbox: mailbox)
        #expect(reservation.readyTime(at: start) == nil)
        reservation.take(1_000_000)
        #expect(reservation.readyTime(at: start) != nil)
        #expect(!reservation.isUnlimited)
        limits[0].bytesPerSecond = nil
        #expect(reservation.readyTime(at: start) == nil && reservation.isUnlimited)
        // The debt ends with the limit.
        reservation.take(1)
        #expect(reservation.readyTime(at: start) == nil)
    }

    @Test(arguments: [(0, 1), (-5, 1), (1, 1), (.max, .max), (nil, nil)] as [(Int64?, Int64?)])
    func ratesBelowOneCountAsOne(given: Int64?, expected: Int64?) {
        let limit = RateLimit(bytesPerSecond: given)
        #expect(limit.bytesPerSecond == expected)
        limit.bytesPerSecond = 7
        limit.bytesPerSecond = given
        #expect(limit.bytesPerSecond == expected)
        #expect(limit.isUnlimited == (expected == nil))
    }
}
