import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests that an action on a session has the result of the same action on each of its jobs.
@Suite struct SessionActionTests {
    private static let signals: [JobSignal] = [
        .cancelRequested(keepsPart: false), .cancelRequested(keepsPart: true), .pauseRequested, .resumeRequested,
    ]

    /// - Parameter limit: the jobs of a step.
    @Test(arguments: signals, [1, 3, 500]) func equalsTheActionOnEachJob(
        _ signal: JobSignal, _ limit: Int
    ) async throws {
        for hasRunning in [true, false] {
            let (one, all) = (try StoreFixture(), try StoreFixture())
            let jobs = try await Self.prepare(one, hasRunning: hasRunning)
            #expect(try await Self.prepare(all, hasRunning: hasRunning).count == jobs.count)
            for job in jobs where try await one.store.job(job).state.isOutstanding {
                _ = try await one.store.apply(signal, to: job)
            }
            try await all.store.apply(signal, toJobsOf: .default, limit: limit)
            let expected = try await Self.contents(of: one)
            let found = try await Self.contents(of: all)
            for (table, rows) in expected { #expect(found[table] == rows, "\(table)") }
            if !hasRunning, case .cancelRequested = signal {
                // It was announced between the events of the jobs.
                #expect(expected["events"]?.contains("session.waiting") == true)
            }
            #expect(try await all.store.compareCounts().drifts.isEmpty)
        }
    }

    /// A job in each state. If none runs, the last ones wait for help: when the others have ended, the session is blocked.
    private static func prepare(_ fixture: StoreFixture, hasRunning: Bool) async throws -> [JobID] {
        let store = fixture.store
        _ = try await fixture.declareWebhook(["job.*", "session.waiting"])
        let jobs = try await fixture.create(10).map(\.id)
        _ = try await fixture.admit(10)
        let until = fixture.time.now.addingTimeInterval(600)
        func end(_ index: Int, _ signal: JobSignal, _ part: Part? = nil) async throws {
            _ = try await store.apply(signal, to: jobs[index], AttemptReport(part: part))
        }
        try await end(0, .attemptDeferred(Wait(.retry(until: until), cause: StoreFixture.failure)))
        try await end(
            1, .attemptDeferred(Wait(.retry(until: until), cause: StoreFixture.failure)), StoreFixture.part("part_1"))
        try await end(2, .attemptStopped(.pause))
        try await end(3, .attemptStopped(.pause), StoreFixture.part("part_3"))
        try await end(4, .attemptFailed(StoreFixture.failure))
        try await fixture.succeed(jobs[5])
        if !hasRunning { try await end(6, .attemptInterrupted) }
        for index in 7...9 {
            try await end(index, .attemptDeferred(Wait(.credentials, cause: StoreFixture.failure)))
        }
        fixture.time.advance(by: 5)
        return jobs
    }

    /// The rows of the tables, with each identifier replaced by its number in order.
    private static func contents(of fixture: StoreFixture) async throws -> [String: String] {
        try await fixture.store.read { db in
            let jobs = try db.values("SELECT id FROM jobs ORDER BY id", as: String.self)
            func text(_ sql: String) throws -> String {
                let text = try db.rows(sql).map { "\($0)" }.joined(separator: "\n")
                    // Two sealed values of one text are not equal.
                    .replacing(/sealed:1:[^"\\]+/, with: "sealed")
                return jobs.enumerated().reduce(text) { $0.replacing($1.element, with: "job \($1.offset)") }
            }
            return [
                "jobs": try text("SELECT * FROM jobs ORDER BY id"),
                "parts": try text("SELECT * FROM parts ORDER BY id"),
                "events": try text("SELECT * FROM events ORDER BY id"),
                "batches": try text("SELECT * FROM batches"),
                "sessions": try text("SELECT id, waits_for_help, is_finishing FROM sessions"),
                "deliveries": try text(
                    "SELECT event, webhook, type, state, next_attempt_at FROM deliveries ORDER BY event"),
            ]
        }
    }

    @Test func aJobThatHasChangedSinceItWasReadGetsTheSignalInItsPresentState() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let jobs = try await fixture.create(4)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: jobs[0].id)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: jobs[1].id)
        _ = try await store.deleteJob(jobs[1].id)
        _ = try await fixture.admit(1)
        let outcomes = try await store.writer.write { transaction in
            try transaction.transitionJobs(transaction.jobs(jobs.map(\.id)).map { ($0, .pauseRequested) })
        }
        #expect(outcomes.map(\.job.id) == [0, 2, 3].map { jobs[$0].id })
        #expect(outcomes.map(\.job.state) == [.cancelled, .running(.attempting), .paused])
        #expect(try await store.job(jobs[0].id).state == .cancelled)
        #expect(try await store.session(.default).counts == [.running: 1, .paused: 1, .cancelled: 1])
    }

    @Test func otherWritesComeBetweenTheSteps() async throws {
        let fixture = try StoreFixture()
        let other = Name(trusted: "other")
        _ = try await fixture.store.declareSession(other, configuration: nil)
        _ = try await fixture.create(3)
        var steps = 0
        try await fixture.store.apply(
            .pauseRequested, toJobsOf: .default, limit: 1,
            afterStep: { _ in
                steps += 1
                if steps == 1 { _ = try? await fixture.create(in: other) }
            })
        let events = try await fixture.store.events(EventQuery(limit: 100)).events
        #expect(
            events.map(\.type) == [
                .jobCreated, .jobCreated, .jobCreated, .jobPaused, .jobCreated, .jobPaused, .jobPaused,
            ])
    }

    @Test func refusesAnUnknownSession() async throws {
        let fixture = try StoreFixture()
        let name = Name(trusted: "nobody")
        await #expect(throws: StoreError.noSuchSession(name)) {
            try await fixture.store.apply(.pauseRequested, toJobsOf: name)
        }
    }
}
