import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Tests patches of the specification by clients that know the present one.
@Suite struct PatchTests {
    private func patch(
        _ fixture: StoreFixture, _ job: Job, _ fields: Set<PatchableField>, expecting revision: Int? = nil,
        _ change: (inout JobSpec) -> Void
    ) async throws -> SignalOutcome? {
        var spec = job.spec
        change(&spec)
        return try await fixture.store.patchJob(job.id, from: job.spec, to: spec, fields: fields, expecting: revision)
    }

    @Test func aNewURLQueuesAJobThatWaitsForIt() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        let wait = Wait(.url, cause: Failure(.linkExpired, "403", status: 403))
        _ = try await fixture.store.apply(.attemptDeferred(wait), to: job.id)
        let stuck = try await fixture.store.job(job.id)
        #expect(try await patch(fixture, stuck, [.metadata]) { _ in }?.job.state.name == .waiting)
        let again = try await fixture.store.job(job.id)
        let outcome = try await patch(fixture, again, [.url]) { $0.url = "https://other/" }
        #expect(outcome?.job.state == .queued)
        #expect(try await fixture.admit().map(\.spec.url) == ["https://other/"])
    }

    @Test func refusesAPatchOfAnOutdatedSpecification() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await patch(fixture, job, [.priority]) { $0.priority = .low }
        #expect(try await patch(fixture, job, [.priority]) { $0.priority = .high } == nil)
        await #expect(throws: StoreError.revisionChanged(job.id, now: 2)) {
            try await patch(fixture, job, [.priority], expecting: 1) { $0.priority = .high }
        }
        await #expect(throws: StoreError.revisionChanged(job.id, now: 2)) {
            try await fixture.store.apply(.pauseRequested, to: job.id, expecting: 1)
        }
        #expect(try await fixture.store.job(job.id).spec.priority == .low)
    }

    @Test func refusesANewDestinationForAFinishedFile() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.finalizePlanned(StoreFixture.promotion(of: job.id)), to: job.id)
        let promoting = try await fixture.store.job(job.id)
        await #expect(throws: StoreError.fieldsFixed(job.id, state: .running, fields: ["destination"])) {
            try await patch(fixture, promoting, [.destination, .priority]) { $0.destination.filename = "late" }
        }
        _ = try await fixture.store.apply(.finalized(nil), to: job.id)
        let done = try await fixture.store.job(job.id)
        await #expect(throws: StoreError.fieldsFixed(job.id, state: .succeeded, fields: ["url"])) {
            try await patch(fixture, done, [.url]) { $0.url = "https://other/" }
        }
        #expect(try await patch(fixture, done, [.metadata]) { $0.metadata = Metadata(["a": 1]) }?.job.revision == 5)
    }

    @Test func aPromotionForAnOldDestinationIsStale() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        let running = try await fixture.store.job(job.id)
        let planned = AttemptReport(destination: running.spec.destination)
        _ = try await patch(fixture, running, [.destination]) { $0.destination.filename = "other" }
        let promotion = JobSignal.finalizePlanned(StoreFixture.promotion(of: job.id))
        guard case .stale(let now) = try await fixture.store.apply(promotion, to: job.id, planned) else {
            Issue.record("the file goes where nobody wants it any more")
            return
        }
        #expect(now.state == .running(.attempting))
        #expect(now.spec.destination.filename == "other")
    }

    /// The client has said meanwhile that the job shall wait for another URL.
    @Test func aFailureByAnOldWaitForIsStale() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        let used = try #require(try await fixture.admit().first?.spec)
        let failed = JobSignal.attemptFailed(Failure(.badStatus, "403", status: 403))
        let running = try await fixture.store.job(job.id)
        _ = try await patch(fixture, running, [.waitFor]) { $0.waitFor = [.url] }
        guard case .stale(let now) = try await fixture.store.apply(failed, to: job.id, AttemptReport(spec: used)) else {
            Issue.record("the job has failed although it shall wait")
            return
        }
        #expect(now.state == .running(.attempting))
    }

    /// A wait for a proxy that the session has replaced would have no end.
    @Test func aRefusalByAnOldProxyIsStale() async throws {
        let (fixture, films) = (try StoreFixture(), Name(trusted: "films"))
        var configuration = SessionConfiguration()
        configuration.proxy = Proxy("http://127.0.0.1:3128")
        _ = try await fixture.store.declareSession(films, configuration: configuration)
        let job = try #require(try await fixture.create(in: films).first)
        let used = try #require(try await fixture.admit().first?.spec)
        let refused = JobSignal.attemptDeferred(
            Wait(.credentials, cause: Failure(.proxyCredentialsRequired, "407", status: 407)))
        let supplied = Proxy("http://me:pw@127.0.0.1:3128")
        configuration.proxy = supplied
        _ = try await fixture.store.declareSession(films, configuration: configuration)
        guard case .stale = try await fixture.store.apply(refused, to: job.id, AttemptReport(spec: used)) else {
            Issue.record("the job waits for help that it has got")
            return
        }
        _ = try await fixture.store.apply(.attemptInterrupted, to: job.id)
        let next = try #require(try await fixture.admit().first?.spec)
        #expect(next.proxy == supplied)
        // The same configuration again changes nothing.
        _ = try await fixture.store.declareSession(films, configuration: configuration)
        let outcome = try await fixture.store.apply(refused, to: job.id, AttemptReport(spec: next))
        #expect(outcome.job.state.name == .waiting)
    }
}
