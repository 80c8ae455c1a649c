import Foundation
import Testing

@testable import Storage

/// When a node may judge the leases of others.
struct NodeLeaseTests {
    private let now = SystemTime().uptime

    /// A renewal some seconds ago.
    ///
    /// - Parameter jump: of the server's clock, in seconds.
    private func renewal(before seconds: Int64, jump: Int64 = 0) -> ServerClock.Measurement {
        let at = now - .seconds(seconds)
        return .init(serverTime: 1_000_000 + (jump - seconds) * 1000, sentAt: at, answeredAt: at)
    }

    /// A lease that was renewed for 20 seconds.
    private func lease() -> NodeLease {
        let lease = NodeLease(renewal(before: 20))
        for seconds: Int64 in [15, 10, 5] { lease.renew(renewal(before: seconds)) }
        return lease
    }

    @Test func steadyNodeMay() {
        let lease = lease()
        lease.renew(renewal(before: 0))
        #expect(lease.isSteady)
    }

    /// The leases of living nodes end with the jump, until they renew them.
    @Test(arguments: [60, -60] as [Int64]) func notAfterAJumpOfTheServersClock(_ jump: Int64) {
        let lease = lease()
        lease.renew(renewal(before: 0, jump: jump))
        #expect(lease.holds && !lease.isSteady)
    }

    @Test func notAfterTheServerWasAway() {
        let lease = NodeLease(renewal(before: 20))
        lease.renew(renewal(before: 5))
        #expect(lease.holds && !lease.isSteady)
    }
}
