import Base
import CurlClient
import Downloads
import Foundation
import Storage
import StorageSQLite
import TestKit
import Testing

@testable import Engine

/// Actions on the last job of a deleted session, which the leader of a cluster removes as soon as the job has ended.
@Suite struct GoneJobTests {
    private let films = Name(trusted: "films")
    private let temporary: TemporaryFolder
    private let engine: Engine
    private let attempt: Attempt

    private var store: Store { engine.services.store }
    private var job: JobID { attempt.job.id }

    /// No worker of the engine runs, and the attempt does nothing.
    init() async throws {
        temporary = try TemporaryFolder()
        let store = try Store(at: temporary.path("data"))
        let engine = Engine(
            options: Engine.Options(), store: store,
            locations: Locations(main: try DownloadsFolder(at: temporary.path("downloads"), for: .alone)),
            client: try CurlClient(),
            log: LogRecord().logger)
        _ = try await store.declareSession(films, configuration: SessionConfiguration())
        _ = try await store.createJobs([NewJob(session: films, spec: JobSpec(url: "https://host/file"))])
        let attempts = Locked<[Attempt]>([])
        _ = try await store.admitJobs(AdmissionLimits(jobs: 1, connectionsPerHost: 1)) { admitted in
            attempts.withLock { $0 = admitted.map { engine.active.begin($0, engine.services) } }
        }
        attempt = try #require(attempts.withLock(\.first))
        self.engine = engine
        try await store.invalidateSession(films)
    }

    private func endAttempt() {
        engine.active.remove(attempt)
        attempt.control.ended.open()
    }

    private func untilStopped() async throws {
        _ = try await eventually("the stop") { attempt.control.isStopping ? true : nil }
    }

    private var isGone: Bool {
        get async { (try? await store.job(job)) == nil }
    }

    /// As another node does, which does not know of the lease on the session.
    private func removeSession() async throws {
        _ = try await eventually("the end of the session") { () -> Bool? in
            _ = try await store.finishDueBatches()
            _ = try await store.removeSettledSessions()
            return await isGone ? true : nil
        }
    }

    @Test func cancellationSucceedsIfTheSessionIsRemovedMeanwhile() async throws {
        async let outcome = engine.perform(.cancelRequested(keepsPart: false), on: job)
        try await untilStopped()
        _ = try await store.apply(.attemptStopped(.cancel(keepsPart: false)), to: job)
        try await removeSession()
        endAttempt()
        let cancelled = try await outcome
        #expect(cancelled.job.id == job && cancelled.job.state == .cancelled && cancelled.job.finishedAt != nil)
    }

    @Test func deletionSucceedsIfTheSessionIsRemovedMeanwhile() async throws {
        async let deletion: Void = engine.delete(job, deletesFile: false)
        try await untilStopped()
        _ = try await store.apply(.attemptStopped(.cancel(keepsPart: false)), to: job)
        try await removeSession()
        endAttempt()
        try await deletion
    }

    /// It has not become what the client asked for.
    @Test func cancellationFailsIfTheJobHasEndedInAnotherWay() async throws {
        async let outcome = engine.perform(.cancelRequested(keepsPart: false), on: job)
        try await untilStopped()
        let failure = Failure(.connectionLost, "gone", attempts: 1, at: store.time.now)
        _ = try await store.apply(.attemptFailed(failure), to: job)
        try await removeSession()
        endAttempt()
        do {
            let found = try await outcome
            Issue.record("\(found)")
        } catch {
            #expect(error as? StoreError == .noSuchJob(job))
        }
    }
}
