import Downloads
import TestKit
import Testing

@testable import Storage

/// Tests that the kept counts equal a full count after every kind of write.
@Suite struct CountTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }
    private let session = Name(trusted: "s")

    init() throws { fixture = try StoreFixture() }

    private func check(_ step: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let drifts = try await store.compareCounts().drifts
        #expect(drifts.isEmpty, "\(step)", sourceLocation: location)
        let held = try await store.writer.write { [session] transaction in
            let counted = try transaction.row(Transaction.sumOfHeldBytes, ["session": session.text])
            return (kept: try transaction.heldBytes(of: session), counted: try counted?[0] as Int64?)
        }
        #expect(held.kept == held.counted, "\(step)", sourceLocation: location)
    }

    private func status() async throws -> SessionStatus { try await store.session(session) }

    @Test func keptCountsEqualAFullCountOfJobsAndParts() async throws {
        var configuration = SessionConfiguration()
        configuration.acknowledgement = .expected
        _ = try await store.declareSession(session, configuration: configuration)
        try await check("declared")
        let jobs = try await fixture.create(6, in: session).map(\.id)
        try await check("created")
        #expect(try await status().counts == [.queued: 6])
        let admitted = try await fixture.admit(4)
        try await check("admitted")
        #expect(try await status().counts == [.queued: 2, .running: 4])
        try await store.checkpoint(
            admitted.prefix(3).enumerated().map { index, job in
                (job.job.id, job.job.attempts, StoreFixture.part("part_\(index)"))
            })
        try await check("checkpoint")
        #expect(try await status().bytesReceived == 15)
        #expect(try await status().bytesExpected == nil)
        try await store.beginTransfer(of: try #require(admitted.last).job, .fresh)
        let restarted = try await store.job(jobs[2])
        try await store.beginTransfer(of: restarted, .restarted(.etagChanged))
        try await check("restarted")
        #expect(try await status().bytesReceived == 10)
        let pause = AttemptReport(part: StoreFixture.part("part_0", durable: 7))
        _ = try await store.apply(.attemptStopped(.pause), to: jobs[0], pause)
        let failed = AttemptReport(part: StoreFixture.part("part_1", durable: 6))
        _ = try await store.apply([(jobs[1], .attemptFailed(StoreFixture.failure), failed)])
        try await check("ended")
        let wait = Wait(.storage(until: fixture.time.now.addingTimeInterval(600)), cause: StoreFixture.failure)
        _ = try await store.apply(.attemptDeferred(wait), to: jobs[3], AttemptReport(part: StoreFixture.part("part_3")))
        try await check("deferred")
        _ = try await store.createJobs([
            NewJob(session: session, spec: JobSpec(url: "https://host/0"), resumeFrom: jobs[0])
        ])
        try await check("adopted")
        try await fixture.succeed(jobs[2])
        try await check("succeeded")
        #expect(try await status().counts == [.queued: 3, .waiting: 1, .paused: 1, .succeeded: 1, .failed: 1])
        fixture.time.advance(by: 604_801)
        _ = try await store.expireParts(over: nil)
        try await check("expired")
        _ = try await store.expireParts(over: 0)
        try await check("evicted")
        _ = try await fixture.admit(1)
        _ = try await store.recoverInterrupted()
        try await check("recovered")
        _ = try await store.apply(.retryRequested, to: jobs[1])
        try await check("retried")
        _ = try await store.apply(.cancelRequested(keepsPart: false), toJobsOf: session)
        try await check("swept")
        #expect(try await status().counts == [.succeeded: 1, .cancelled: 6])
        #expect(try await status().bytesReceived == 3)
        #expect(try await status().bytesExpected == 3)
        _ = try await store.deleteJob(jobs[2])
        try await check("deleted")
        #expect(try await status().bytesReceived == 0)
        #expect(try await status().bytesExpected == nil)
        fixture.time.advance(by: 1)
        #expect(try await store.finishDueBatches().count == 1)
        try await check("finished")
        _ = try await store.apply(.retryRequested, to: jobs[4])
        try await check("retried in the next batch")
        #expect(try await status().batch == 2)
        _ = try await store.deleteJob(jobs[5])
        try await check("deleted from an earlier batch")
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: jobs[4])
        try await store.invalidateSession(session)
        _ = try await store.finishDueBatches()
        try await check("finishes")
        #expect(try await store.statistics().unacknowledgedFinishes == 2)
        _ = try await store.removeSettledSessions(jobsInAStep: 2)
        try await check("removed in part")
        while try await !store.removeSettledSessions(jobsInAStep: 2).isEmpty {}
        try await check("removed")
        #expect(try await store.statistics().jobs.isEmpty)
        #expect(try await store.statistics().unacknowledgedFinishes == 0)
    }

    @Test func keptCountsEqualAFullCountOfDeliveriesAndFinishes() async throws {
        let attempt = Delivery.Attempt(at: fixture.time.now, status: 200, error: nil, latencySeconds: 0, response: nil)
        let webhook = try await fixture.declareWebhook()
        let jobs = try await fixture.create(3).map(\.id)
        try await check("addressed")
        let due = try await store.dueDeliveries(to: webhook.key, limit: 10)
        try await store.record(attempt, of: due[0], .accepted)
        try await store.record(attempt, of: due[1], .rejected(retryAt: nil))
        try await check("attempted")
        #expect(try await store.statistics().settledDeliveries == [.acknowledged: 1, .exhausted: 1])
        _ = try await store.redeliver(due[1].id)
        try await check("requested again")
        _ = try await store.recoverWebhook(webhook.name, of: .default, after: 0)
        try await check("recovered")
        _ = try await store.testWebhook(webhook.name, of: .default)
        try await check("tested")
        for job in jobs { _ = try await store.apply(.cancelRequested(keepsPart: false), to: job) }
        fixture.time.advance(by: 1)
        let finish = try #require(try await store.finishDueBatches().first)
        try await check("finished")
        #expect(try await store.statistics().unacknowledgedFinishes == 1)
        try await store.record(attempt, of: due[0], .gone)
        try await check("disabled")
        #expect(try await store.statistics().pendingDeliveries == 0)
        guard case .finished(let event) = finish.state else { throw StoreError.busy }
        try await store.acknowledge(.default, through: event)
        try await store.acknowledge(.default, through: event)
        try await check("acknowledged")
        #expect(try await store.statistics().unacknowledgedFinishes == 0)
        _ = try await fixture.declareWebhook()
        _ = try await fixture.create()
        try await store.deleteWebhook(webhook.name, of: .default)
        try await check("webhook deleted")
        fixture.time.advance(by: 200)
        while try await store.pruneEvents(keeping: Retention(acknowledged: 100, unacknowledged: 150)) {}
        try await check("pruned")
        #expect(try await store.statistics().settledDeliveries.isEmpty)
    }

    /// The writes share commits, and a third of them is refused after it has changed counts.
    @Test func aRefusedWriteOfAGroupLeavesNoCounts() async throws {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask { [store] in
                    let last: Name = index.isMultiple(of: 3) ? Name(trusted: "nobody") : .default
                    _ = try? await store.createJobs(
                        [.default, last].map { NewJob(session: $0, spec: JobSpec(url: "https://host/")) })
                }
            }
        }
        #expect(try await store.statistics().jobs == [.queued: 80])
        try await check("refused")
    }

    /// All writes share one commit: the new session of the same name begins at zero.
    @Test func countsOfARemovedSessionDoNotReachItsSuccessor() async throws {
        _ = try await store.declareSession(session, configuration: nil)
        let job = try #require(try await fixture.create(in: session).first)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: job.id)
        try await store.invalidateSession(session)
        _ = try await store.finishDueBatches()
        var changes = CountChanges()
        changes.add(from: JobShare(job), to: nil)
        changes.removeSession(session)
        var later = CountChanges()
        later.add(from: nil, to: JobShare(job))
        changes.add(later)
        #expect(changes.sessions[session]?.jobs[.queued] == 1)
        _ = try await store.removeSettledSessions()
        _ = try await store.declareSession(session, configuration: nil)
        _ = try await fixture.create(2, in: session)
        try await check("declared again")
        #expect(try await status().counts == [.queued: 2])
    }
}
