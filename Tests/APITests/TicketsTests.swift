import Locks
import Testing

@testable import API

/// A ticket admits one request.
struct TicketsTests {
    private let uptime = Locked(Duration.zero)

    private func tickets() -> Tickets<String> {
        Tickets(uptime: { [uptime] in uptime.withLock { $0 } })
    }

    @Test func isGoodForOneRequest() throws {
        let tickets = tickets()
        let ticket = try #require(tickets.issue(to: "reader"))
        #expect(tickets.redeem(ticket) == "reader")
        #expect(tickets.redeem(ticket) == nil)
    }

    @Test func expiresAfterHalfAMinute() throws {
        let tickets = tickets()
        let (early, late) = (try #require(tickets.issue(to: "reader")), try #require(tickets.issue(to: "reader")))
        uptime.withLock { $0 = .seconds(29) }
        #expect(tickets.redeem(early) == "reader")
        uptime.withLock { $0 = .seconds(30) }
        #expect(tickets.redeem(late) == nil)
    }

    @Test func anInventedTicketIsWorthNothing() {
        #expect(tickets().redeem("0123") == nil)
    }

    @Test func theirNumberIsLimitedUntilTheyExpire() {
        let tickets = tickets()
        for _ in 0..<10_000 { #expect(tickets.issue(to: "reader") != nil) }
        #expect(tickets.issue(to: "reader") == nil)
        uptime.withLock { $0 = .seconds(30) }
        #expect(tickets.issue(to: "reader") != nil)
    }
}
