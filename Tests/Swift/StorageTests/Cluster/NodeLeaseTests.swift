import Foundation
import Testing

@testable import Storage
@testable import StoragePostgres

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

    @Test func steadyNodeMay() throws {
        let lease = lease()
        lease.renew(renewal(before: 0))
        try expectTime(of: lease, jump: 0)
    }

    /// The test may have taken up to a minute since `now`.
    private func expectTime(of lease: NodeLease, jump: Int64) throws {
        let time = try #require(lease.takeoverTime) - 1_000_000 - jump * 1000
        #expect((-10...60_000).contains(time), "\(time)")
    }

    /// The leases of living nodes end with the jump, until they renew them.
    @Test(arguments: [60, -60] as [Int64]) func notAfterAJumpOfTheServersClock(_ jump: Int64) {
        let lease = lease()
        lease.renew(renewal(before: 0, jump: jump))
        #expect(lease.holds && lease.takeoverTime == nil)
    }

    @Test(arguments: [60, -60] as [Int64]) func againAfterTheLivingNodesHaveRenewed(_ jump: Int64) throws {
        let lease = NodeLease(renewal(before: 20))
        lease.renew(renewal(before: 16))
        for seconds: Int64 in [12, 8, 4, 0] { lease.renew(renewal(before: seconds, jump: jump)) }
        try expectTime(of: lease, jump: jump)
    }

    /// The thread that follows the journal can have read it before the writer made the node the leader.
    @Test func earlierStateOfTheJournalDoesNotEndTheLead() {
        let lease = lease()
        lease.renew(renewal(before: 0))
        #expect(lease.note(isLeader: true, at: 8))
        #expect(!lease.note(isLeader: false, at: 7))
        #expect(lease.isLeader)
        #expect(!lease.note(isLeader: true, at: 9))
        #expect(!lease.note(isLeader: false, at: 9))
        #expect(!lease.isLeader)
        // Another server, which lacks the last commits.
        lease.noteLoss()
        #expect(lease.note(isLeader: true, at: 3))
    }

    @Test func notAfterTheServerWasAway() {
        let lease = NodeLease(renewal(before: 20))
        lease.renew(renewal(before: 0))
        #expect(lease.holds && lease.takeoverTime == nil)
    }
}
