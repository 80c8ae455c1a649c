import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests what a queued job says about its place, and what it waits for.
@Suite struct QueueEntriesTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func entries(_ ids: [JobID], _ limits: AdmissionLimits? = nil) async throws -> [QueueEntry] {
        var jobs: [Job] = []
        for id in ids { jobs.append(try await fixture.store.job(id)) }
        let limits = limits ?? AdmissionLimits(jobs: 16, connectionsPerHost: 100)
        let entries = try await fixture.store.queueEntries(of: jobs, limits)
        return ids.compactMap { entries[$0] }
    }

    private func entry(_ id: JobID, _ limits: AdmissionLimits? = nil) async throws -> QueueEntry {
        try await entries([id], limits)[0]
    }

    private func create(_ change: (inout JobSpec) -> Void, in session: Name = .default) async throws -> JobID {
        var spec = JobSpec(url: "https://host/f")
        change(&spec)
        return try await fixture.store.createJobs([NewJob(session: session, spec: spec)])[0].id
    }

    // MARK: Places

    @Test func placesAreThoseOfTheAdmission() async throws {
        let normal = try await fixture.create(6).map(\.id)
        let high = try await create { $0.priority = .high }
        let low = try await create { $0.priority = .low }
        let other = Name(trusted: "other")
        _ = try await fixture.store.declareSession(other, configuration: nil)
        _ = try await fixture.create(3, in: other)
        _ = try await fixture.store.moveJob(normal[4], to: .top)
        _ = try await fixture.store.moveJob(normal[1], to: .bottom)
        let expected = [high, normal[4], normal[0], normal[2], normal[3], normal[5], normal[1], low]
        for order in [expected, expected.reversed()] {
            let places = try await entries(order).compactMap(\.position)
            #expect(places == order.map { expected.firstIndex(of: $0) })
        }
        for (place, id) in expected.enumerated() { #expect(try await entry(id).position == place) }
        #expect(try await fixture.admit(3).filter { $0.job.session == .default }.map(\.job.id).first == high)
    }

    /// Places far behind are counted from the last known one before them.
    @Test func placesInALongQueue() async throws {
        let ids = try await fixture.create(3_210).map(\.id)
        let some = [3_209, 0, 998, 999, 1_000, 1_001, 1_999, 2_000, 3_000]
        #expect(try await entries(some.map { ids[$0] }).map(\.position) == some)
        for place in some { #expect(try await entry(ids[place]).position == place) }
        #expect(try await entries(Array(ids.suffix(1_000))).map(\.position) == Array(2_210..<3_210))
        // The known places are a second old at most.
        _ = try await fixture.admit(10)
        fixture.time.advance(by: 1)
        #expect(try await entry(ids[3_209]).position == 3_199)
    }

    @Test func jobsThatAreHeldPausedOrRunningAreNotCounted() async throws {
        let ids = try await fixture.create(3).map(\.id)
        _ = try await fixture.store.apply(.pauseRequested, to: ids[0])
        let held = try await create { $0.notBefore = fixture.time.now.addingTimeInterval(60) }
        let last = try await create { _ in }
        #expect(try await entries([ids[1], ids[2], last]).map(\.position) == [0, 1, 2])
        #expect(try await entry(held).blockedBy == .notBefore)
        #expect(try await entry(held).until == fixture.time.now.addingTimeInterval(60))
        _ = try await fixture.admit(1)
        #expect(try await entries([ids[2], last]).map(\.position) == [0, 1])
    }

    // MARK: Causes

    @Test func causesOfTheService() async throws {
        let ids = try await fixture.create(2).map(\.id)
        #expect(try await entry(ids[1]) == QueueEntry(position: 1))
        _ = try await fixture.admit(1)
        #expect(try await entry(ids[1], .init(jobs: 1, connectionsPerHost: 9)).blockedBy == .serviceLimit)
        #expect(try await entry(ids[1], .init(jobs: 9, connectionsPerHost: 1)).blockedBy == .hostLimit)
        var scheduled = AdmissionLimits(jobs: 0, connectionsPerHost: 1)
        scheduled.scheduledUntil = Date(milliseconds: 5000)
        #expect(
            try await entry(ids[1], scheduled)
                == QueueEntry(blockedBy: .schedule, until: Date(milliseconds: 5000), position: 0))
    }

    @Test func causesOfTheSession() async throws {
        let small = Name(trusted: "small")
        var configuration = SessionConfiguration()
        configuration.maxConcurrentJobs = 1
        _ = try await fixture.store.declareSession(small, configuration: configuration)
        let ids = try await fixture.create(2, in: small).map(\.id)
        _ = try await fixture.admit()
        #expect(try await entry(ids[1]).blockedBy == .sessionLimit)
        configuration.maxConcurrentJobs = 2
        configuration.maxConnectionsPerHost = 1
        _ = try await fixture.store.declareSession(small, configuration: configuration)
        #expect(try await entry(ids[1]).blockedBy == .hostLimit)
    }

    @Test func causesOfTheHost() async throws {
        let id = try await fixture.create(1)[0].id
        var limits = AdmissionLimits(jobs: 16, connectionsPerHost: 9)
        limits.startsLeft = { host, _, _ in host == "host:443" ? 0 : .max }
        #expect(try await entry(id, limits) == QueueEntry(blockedBy: .hostLimit, position: 0))
        for until in [Date(milliseconds: 9000), nil] {
            limits.pause = { host, _, _ in host == "host:443" ? .init(until: until) : nil }
            #expect(try await entry(id, limits) == QueueEntry(blockedBy: .hostPaused, until: until, position: 0))
        }
    }
}
