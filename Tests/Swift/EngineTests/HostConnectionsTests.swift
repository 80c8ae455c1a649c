import Base
import Downloads
import Foundation
import Storage
import TestKit
import Testing

@testable import Engine

/// Room at hosts, given to jobs by admission and to their further connections here.
@Suite struct HostConnectionsTests {
    private let host = "host:80"
    private let session = Name(trusted: "s")

    private func connections(limit: Int = 4, maxAdditional: Int = 100) -> HostConnections {
        HostConnections(limit: limit, maxAdditional: maxAdditional) {}
    }

    @Test func jobsAndAdditionalConnectionsShareTheLimit() {
        let connections = connections()
        connections.begin(at: host, of: session)
        #expect(
            (0..<4).map { _ in connections.acquire(at: host, of: session, atMost: nil) } == [true, true, true, false])
        connections.end(at: host, of: session)
        #expect(connections.acquire(at: host, of: session, atMost: nil))
        connections.release(at: host, of: session)
        connections.release(at: host, of: session)
        #expect(connections.acquire(at: host, of: session, atMost: nil))
    }

    @Test func hostsAreCountedEachAndSessionsTogether() {
        let connections = connections(limit: 2)
        connections.begin(at: host, of: Name(trusted: "other"))
        #expect(connections.acquire(at: host, of: session, atMost: nil))
        #expect(!connections.acquire(at: host, of: session, atMost: nil))
        #expect(connections.acquire(at: "mirror:80", of: session, atMost: nil))
    }

    @Test func theSmallerLimitHolds() {
        let connections = connections()
        connections.begin(at: host, of: Name(trusted: "other"))
        #expect(connections.acquire(at: host, of: session, atMost: 1))
        #expect(!connections.acquire(at: host, of: session, atMost: 1))
    }

    @Test func nothingIsTakenWhileJobsAreAdmitted() {
        let connections = connections()
        #expect(connections.acquire(at: host, of: session, atMost: nil))
        let taken = connections.beginAdmission()
        #expect(taken.map { "\($0.session) \($0.host) \($0.count)" } == ["s host:80 1"])
        #expect(!connections.acquire(at: host, of: session, atMost: nil))
        connections.endAdmission()
        #expect(connections.acquire(at: host, of: session, atMost: nil))
    }

    @Test func descriptorsBoundThemAltogether() {
        let connections = connections(maxAdditional: 2)
        #expect(connections.acquire(at: "a:80", of: session, atMost: nil))
        #expect(connections.acquire(at: "b:80", of: session, atMost: nil))
        #expect(!connections.acquire(at: "c:80", of: session, atMost: nil))
    }

    @Test func reportsFreedConnections() async {
        let rung = Latch()
        let connections = HostConnections(limit: 1, maxAdditional: 1) { rung.open() }
        #expect(connections.acquire(at: host, of: session, atMost: nil))
        connections.release(at: host, of: session)
        await rung.wait()
    }

    // MARK: Claims

    /// Connections of a node.
    private var claimed: HostConnections { HostConnections(limit: 9, maxAdditional: 9, areClaimed: true) {} }

    private func counts(_ taken: [AdmissionLimits.Taken]?) -> [Int]? { taken?.map(\.count).sorted() }

    @Test func oneClaimIsForAllConnectionsOfAJob() async {
        let (connections, bell) = (claimed, AsyncAutoResetEvent())
        func take() -> Bool {
            connections.acquire(at: host, of: session, atMost: nil, wish: .init(count: 3, bell: bell))
        }
        #expect(!take() && !take())
        let claims = connections.consumeClaims()
        #expect(counts(claims?.used) == [] && counts(claims?.wanted) == [3])
        // The claim is being decided.
        #expect(!take())
        connections.grant(claims?.wanted ?? [])
        await bell.wait()
        #expect((0..<4).map { _ in take() } == [true, true, true, false])
    }

    @Test func aClaimThatWasRefusedIsNotRepeatedAtOnce() {
        let (connections, wish) = (claimed, ConnectionClaims.Wish(count: 2, bell: AsyncAutoResetEvent()))
        #expect(!connections.acquire(at: host, of: session, atMost: nil, wish: wish))
        #expect(counts(connections.consumeClaims()?.wanted) == [2])
        connections.grant([])
        #expect(!connections.acquire(at: host, of: session, atMost: nil, wish: wish))
        #expect(connections.consumeClaims() == nil)
    }

    @Test func connectionsThatHaveEndedAreGivenBack() {
        let (connections, wish) = (claimed, ConnectionClaims.Wish(count: 1, bell: AsyncAutoResetEvent()))
        #expect(!connections.acquire(at: host, of: session, atMost: nil, wish: wish))
        connections.grant(connections.consumeClaims()?.wanted ?? [])
        #expect(connections.acquire(at: host, of: session, atMost: nil, wish: wish))
        #expect(!connections.hasSurplus)
        connections.release(at: host, of: session)
        #expect(connections.hasSurplus)
    }
}
