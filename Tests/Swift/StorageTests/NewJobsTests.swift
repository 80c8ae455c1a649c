import Downloads
import Formats
import Foundation
import Testing

@testable import Storage

/// Jobs that are created with one request are written with few statements. Their rows are the same as one by one.
@Suite struct NewJobsTests {
    @Test(arguments: [1, 49, 50, 51, 123]) func storesEveryJobOfARequestInItsOrder(_ count: Int) async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        _ = try await fixture.declareWebhook(["job.created"])
        let new = (0..<count).map { NewJob(session: .default, spec: Self.spec($0, at: fixture.time.now)) }
        let created = try await store.createJobs(new)
        #expect(created.map(\.spec.url) == new.map(\.spec.url))
        #expect(created.map(\.id.text) == created.map(\.id.text).sorted())
        let rows = try await store.read { db in try created.map { try JobRow.job($0.id, in: db, store.sealer) } }
        #expect(rows == created)
        try await fixture.expectWorkingSetEqualsRows(created.map(\.id), "created")
        let events = try await store.events(EventQuery(types: [EventPattern(trusted: "job.created")], limit: 1000))
            .events
        #expect(events.map(\.job) == created.map(\.id))
        #expect(events.map(\.data) == created.map { #"{"url":"\#($0.spec.url.prefix { $0 != "?" })?..."}"# })
        #expect(try await store.session(.default).counts[.queued] == count)
        #expect(try await store.checkCounts().isEmpty)
        #expect(try await store.statistics().pendingDeliveries == count)
        let tagged = try await store.jobs(JobQuery(tag: "even", limit: 1000)).jobs
        #expect(tagged == created.filter { $0.spec.tags.contains("even") }.reversed())
    }

    /// The columns that the scheduler and the deadline worker read.
    @Test func jobsOfALargeRequestStartAndFailAtTheirTimes() async throws {
        let fixture = try StoreFixture()
        let new = (0..<100).map { NewJob(session: .default, spec: Self.spec($0, at: fixture.time.now)) }
        let jobs = try await fixture.store.createJobs(new)
        let free = jobs.filter { $0.spec.notBefore == nil }
        let admitted = try await fixture.admit(1000)
        #expect(Set(admitted.map(\.job.id)) == Set(free.map(\.id)))
        fixture.time.advance(by: 61)
        let late = try await fixture.admit(1000)
        #expect(Set(late.map(\.job.id)) == Set(jobs.map(\.id)).subtracting(free.map(\.id)))
        fixture.time.advance(by: 60)
        let overdue = try await fixture.store.failOverdueJobs { _ in }.outcomes
        #expect(Set(overdue.map(\.job.id)) == Set(jobs.filter { $0.spec.deadline != nil }.map(\.id)))
    }

    private static func spec(_ index: Int, at now: Date) -> JobSpec {
        var spec = JobSpec(url: "https://host-\(index % 7)/\(index)?signature=s")
        spec.tags = index.isMultiple(of: 2) ? ["even", "t\(index)"] : []
        spec.notBefore = index.isMultiple(of: 3) ? now.addingTimeInterval(60) : nil
        spec.deadline = index.isMultiple(of: 5) ? now.addingTimeInterval(100) : nil
        spec.priority = index.isMultiple(of: 4) ? .high : nil
        spec.destination.filename = index.isMultiple(of: 6) ? "{name} \(index)" : nil
        return spec
    }
}
