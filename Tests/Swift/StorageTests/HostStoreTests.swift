import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

@Suite struct HostStoreTests {
    private func host(_ name: String, closedUntil: Date? = nil, at changed: Date) -> StoredHost {
        StoredHost(
            host: name, closedUntil: closedUntil, reason: closedUntil == nil ? nil : .refused,
            status: closedUntil == nil ? nil : 429, closuresInARow: closedUntil == nil ? 0 : 2,
            learned: closedUntil.map { .init(base: 7.5, since: $0, ceiling: 10, repeated: 3) }, changedAt: changed)
    }

    @Test func keepsGatesUntilTheyAreOld() async throws {
        let fixture = try StoreFixture()
        let (store, now) = (fixture.store, fixture.time.now)
        let closed = host("a:443", closedUntil: now.addingTimeInterval(3600), at: now)
        try await store.saveHosts([closed, host("b:80", at: now)])
        #expect(try await store.hosts() == [closed, host("b:80", at: now)])
        // A later version replaces the first.
        fixture.time.advance(by: 10)
        let opened = host("a:443", at: fixture.time.now)
        try await store.saveHosts([opened])
        #expect(try await store.hosts() == [host("b:80", at: now), opened])
        #expect(try await store.hosts(changedSince: fixture.time.now) == [opened])
        // After two days no gate can be closed any more.
        fixture.time.advance(by: 2 * 86_400 - 5)
        try await store.saveHosts([])
        #expect(try await store.hosts() == [opened])
    }

    /// Each claim begins where the one before ends, of any node.
    @Test(.onPostgres) func startsAreClaimedOnce() async throws {
        let fixture = try StoreFixture()
        let (store, now) = (fixture.store, fixture.time.now)
        func claim(_ count: Int, _ session: String? = nil) async throws -> [Double] {
            let claim = StartClaim(
                host: "a:443", session: session.map { Name(trusted: $0) }, interval: 0.1, count: count)
            return try await store.claimStarts([claim])[0].map { ($0.timeIntervalSince(now) * 1000).rounded() }
        }
        #expect(try await claim(3) == [0, 100, 200])
        #expect(try await claim(1) == [300])
        #expect(try await claim(2, "films") == [0, 100])
        fixture.time.advance(by: 10)
        #expect(try await claim(2) == [10_000, 10_100])
        // A day later, nothing is left of it.
        fixture.time.advance(by: 2 * 86_400)
        try await store.saveHosts([])
        #expect(try await store.read { try $0.value("SELECT count(*) FROM host_starts", as: Int.self) } == 0)
    }

    @Test func openingHasAnEntryInTheAuditLog() async throws {
        let fixture = try StoreFixture()
        let note = AuditNote(caller: "FETCHD_TOKEN", name: nil, address: "127.0.0.1", action: "openHost", target: nil)
        try await fixture.store.openHost(host("a:443", at: fixture.time.now), audit: note)
        #expect(try await fixture.store.audit(after: 0, limit: 10).map(\.note.target) == ["a:443"])
    }

    @Test func countsTheJobsOfEachHost() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.store.declareSession(Name(trusted: "films"), configuration: nil)
        _ = try await fixture.create(3, host: "a")
        _ = try await fixture.create(2, in: Name(trusted: "films"), host: "b")
        _ = try await fixture.admit(1)
        let loads = try await fixture.store.jobsByHost()
        #expect(loads.values.reduce(0) { $0 + $1.running } == 1 && loads.values.reduce(0) { $0 + $1.queued } == 4)
        #expect(Set(loads.keys) == ["a:443", "b:443"])
        let visible = VisibleSessions.matching([SessionPattern(trusted: "films")])
        #expect(try await fixture.store.jobsByHost(visible: visible).keys.sorted() == ["b:443"])
    }

    /// A job begins only at a host that gets requests now, also if many jobs of another host are before it.
    @Test func admissionLeavesOutHostsThatHoldJobs() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.create(100, host: "closed")
        _ = try await fixture.create(3, host: "slow")
        let open = try await fixture.create(2, host: "open")
        var limits = AdmissionLimits(jobs: 16, connectionsPerHost: 100)
        limits.startsLeft = { host, _, _ in host == "closed:443" ? 0 : host == "slow:443" ? 1 : .max }
        let admitted = try await fixture.store.admitJobs({ [limits] in limits }) { _ in }.admitted
        #expect(admitted.count == 3)
        #expect(Set(admitted.map(\.job.id)).isSuperset(of: open.map(\.id)))
    }

    @Test func attemptThatWasHeldOffDoesNotCount() async throws {
        let fixture = try StoreFixture()
        let job = try await fixture.create()[0].id
        for count in 1...3 {
            _ = try await fixture.admit()
            let wait = Wait(.retry(until: fixture.time.now), cause: Failure(.badStatus, "429", status: 429))
            _ = try await fixture.store.apply(.attemptHeldOff(wait), to: job)
            let waiting = try await fixture.store.job(job)
            #expect(waiting.state.wait?.name == .retry && waiting.attempts == 0 && waiting.failuresInARow == 0)
            #expect(waiting.timesHeldOff == count)
        }
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job)
        _ = try await fixture.store.apply(.retryRequested, to: job)
        #expect(try await fixture.store.job(job).timesHeldOff == 0)
    }
}
