import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests deadlines and resource times, running and stopped.
@Suite struct DeadlineTests {
    private func fail(_ fixture: StoreFixture) async throws -> [SignalOutcome] {
        try await fixture.store.failOverdueJobs { _ in }.outcomes
    }

    private func create(_ fixture: StoreFixture, _ change: (inout JobSpec) -> Void) async throws -> JobID {
        var spec = JobSpec(url: "https://host/")
        change(&spec)
        return try #require(try await fixture.store.createJobs([NewJob(session: .default, spec: spec)]).first).id
    }

    @Test func failsAQueuedJobAtItsDeadline() async throws {
        let fixture = try StoreFixture()
        let deadline = fixture.time.now.addingTimeInterval(10)
        let id = try await create(fixture) { $0.deadline = deadline }
        #expect(try await fail(fixture).isEmpty)
        #expect(try await fixture.store.failOverdueJobs { _ in }.next == deadline)
        fixture.time.advance(by: 10)
        #expect(try await fail(fixture).map(\.job.state.failure?.code) == [.deadlineExceeded])
        #expect(try await fixture.store.job(id).state.name == .failed)
        #expect(try await fail(fixture).isEmpty)
    }

    @Test func asksToStopARunningJobAtItsDeadline() async throws {
        let fixture = try StoreFixture()
        _ = try await create(fixture) { $0.timeouts.resourceSeconds = 10 }
        _ = try await fixture.admit()
        fixture.time.advance(by: 10)
        guard case .done(let job, let effects, _)? = try await fail(fixture).first else {
            Issue.record("nothing happened to the job")
            return
        }
        #expect(job.state == .running(.attempting))
        guard case .stopAttempt(.overdue(let failure))? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(failure.code == .deadlineExceeded)
    }

    /// - Parameter seconds: the deadline that a client sets meanwhile, after the creation of the job; nil: none.
    @Test(arguments: [(nil, .queued), (20, .queued), (10, .failed), (5, .failed)] as [(Double?, JobState.Kind)])
    func obeysTheDeadlineThatIsSetDuringTheStop(_ seconds: Double?, _ state: JobState.Kind) async throws {
        let fixture = try StoreFixture()
        let begin = fixture.time.now
        let id = try await create(fixture) { $0.deadline = begin.addingTimeInterval(10) }
        _ = try await fixture.admit()
        fixture.time.advance(by: 10)
        guard case .done(let job, let effects, _)? = try await fail(fixture).first,
            case .stopAttempt(.overdue(let failure))? = effects.first
        else {
            Issue.record("the attempt is not stopped")
            return
        }
        var spec = job.spec
        spec.deadline = seconds.map(begin.addingTimeInterval)
        _ = try await fixture.store.patchJob(id, from: job.spec, to: spec, fields: [.deadline], expecting: nil)
        let report = AttemptReport(admission: job.admissions, part: StoreFixture.part())
        let ended = try await fixture.store.apply(.attemptFailed(failure), to: id, report).job
        #expect(ended.state.name == state)
        #expect(ended.part?.bytesDurable == 5)
        #expect(ended.attempts == (state == .queued ? 0 : 1))
    }

    @Test func stopsTheResourceTimeOfAPausedJob() async throws {
        let fixture = try StoreFixture()
        let id = try await create(fixture) { $0.timeouts.resourceSeconds = 10 }
        _ = try await fixture.admit()
        fixture.time.advance(by: 4)
        _ = try await fixture.store.apply(.attemptStopped(.pause), to: id)
        fixture.time.advance(by: 1000)
        #expect(try await fail(fixture).isEmpty)
        _ = try await fixture.store.apply(.resumeRequested, to: id)
        #expect(try await fixture.store.job(id).failsAt == fixture.time.now.addingTimeInterval(6))
        fixture.time.advance(by: 6)
        #expect(try await fail(fixture).count == 1)
    }

    @Test func failsAPausedJobAtItsDeadline() async throws {
        let fixture = try StoreFixture()
        let deadline = fixture.time.now.addingTimeInterval(10)
        let id = try await create(fixture) { $0.deadline = deadline }
        _ = try await fixture.store.apply(.pauseRequested, to: id)
        fixture.time.advance(by: 10)
        #expect(try await fail(fixture).count == 1)
    }

    @Test func restartsTheResourceTimeOfARetriedJob() async throws {
        let fixture = try StoreFixture()
        let id = try await create(fixture) { $0.timeouts.resourceSeconds = 10 }
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: id)
        fixture.time.advance(by: 100)
        _ = try await fixture.store.apply(.retryRequested, to: id)
        _ = try await fixture.admit()
        #expect(try await fixture.store.job(id).failsAt == fixture.time.now.addingTimeInterval(10))
    }
}
