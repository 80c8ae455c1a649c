import Downloads
import Formats
import Foundation
import HTTPSemantics
import TestKit

@testable import Storage
@testable import StorageSQLite

/// Fills a store with data of every kind, through the calls that the service makes.
struct SchemaFixtureData {
    private let time = ManualTime()
    private let store: Store
    private let films = Name(trusted: "films")

    init(in folder: TemporaryFolder, _ options: Store.Options = .init()) throws {
        store = try Store(at: folder.path, options: options, time: time)
    }

    func write() async throws {
        try await declareSessionsAndWebhooks()
        try await finishBatches()
        try await makeJobsInEveryState()
        try await makeTokensAndAnswers()
        try await store.close()
    }

    private func declareSessionsAndWebhooks() async throws {
        let now = SchemaFixture.time.now
        try await store.saveHosts([
            StoredHost(
                host: "h:443", closedUntil: now.addingTimeInterval(3600), reason: .refused, status: 429,
                closuresInARow: 1, learned: .init(base: 8, since: now, ceiling: 10, repeated: 0), changedAt: now)
        ])
        var configuration = SessionConfiguration()
        configuration.headers = [HeaderField(name: "Authorization", value: "fixture-session")]
        configuration.proxy = Proxy("http://user:fixture-proxy@proxy:3128")
        configuration.maxConcurrentJobs = 2
        configuration.finishDelaySeconds = 5
        _ = try await store.declareSession(films, configuration: configuration)
        for (session, name) in [(Name.default, "hook"), (films, "gone")] {
            _ = try await store.declareWebhook(
                Name(trusted: name), of: session,
                as: WebhookDeclaration(
                    url: "https://c/\(name)?key=fixture-hook",
                    events: ["session.*", "job.*"].map(EventPattern.init(trusted:)),
                    headers: [HeaderField(name: "X-Tenant", value: "fixture-header")]))
        }
    }

    /// A batch that is acknowledged, one that is finished, and one that is due; deliveries in every state.
    private func finishBatches() async throws {
        for number in 1...2 {
            let job = try await create("batch-\(number)")
            _ = try await store.apply(.cancelRequested(keepsPart: false), to: job)
            time.advance(by: 2)
            _ = try await store.finishDueBatches()
            if number == 1 { try await store.acknowledge(.default, through: try await store.lastEvent()) }
        }
        let outcomes: [DeliveryOutcome] = [.accepted, .rejected(retryAt: nil, notBefore: nil), .gone]
        for key in try await store.webhooksDue().keys {
            for (delivery, outcome) in zip(try await store.dueDeliveries(to: key, limit: 3), outcomes.prefix(2)) {
                try await store.record(attempt(outcome == .accepted ? 204 : 500), of: delivery, outcome)
            }
        }
        let job = try await create("due", in: films)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: job)
        if let key = try await store.webhooksDue().keys.last,
            let delivery = try await store.dueDeliveries(to: key, limit: 1).first
        {
            try await store.record(attempt(410), of: delivery, outcomes[2])
        }
    }

    private func attempt(_ status: Int) -> Delivery.Attempt {
        Delivery.Attempt(at: time.now, status: status, error: nil, latencySeconds: 0.1, response: "answer")
    }

    private func create(
        _ name: String, in session: Name = .default, _ change: (inout JobSpec) -> Void = { _ in }
    ) async throws -> JobID {
        var spec = JobSpec(url: "https://host/\(name)?signature=fixture-query")
        spec.tags = [name]
        change(&spec)
        return try await store.createJobs([NewJob(session: session, spec: spec)])[0].id
    }

    private func makeJobsInEveryState() async throws {
        let failure = Failure(.connectionLost, "gone", attempts: 1, at: time.now)
        let ends: [(String, JobSignal?)] = [
            ("attempting", nil), ("promoting", nil), ("succeeded", nil),
            ("failed", .attemptFailed(failure)), ("paused", .attemptStopped(.pause)),
            ("retry", .attemptDeferred(Wait(.retry(until: time.now.addingTimeInterval(50)), cause: failure))),
            ("space", .attemptDeferred(Wait(.space(until: time.now.addingTimeInterval(30)), cause: failure))),
            ("credentials", .attemptDeferred(Wait(.credentials, cause: failure))),
            ("url", .attemptDeferred(Wait(.url, cause: failure))),
        ]
        for (name, signal) in ends {
            let job = try await create(name)
            _ = try await store.admitJobs(AdmissionLimits(jobs: 100, connectionsPerHost: 100)) { _ in }
            try await end(job, name, signal)
        }
        _ = try await create("queued") { $0.credentials = .bearer(token: "fixture-token") }
        _ = try await create("held") { $0.notBefore = time.now.addingTimeInterval(500) }
    }

    private func end(_ job: JobID, _ name: String, _ signal: JobSignal?) async throws {
        let part = StoreFixture.part("part_of_\(job)")
        if let signal {
            _ = try await store.apply(signal, to: job, AttemptReport(part: part, madeProgress: true))
            return
        }
        guard name != "attempting" else {
            return try await store.checkpoint([(job: job, admission: 1, part: part)])
        }
        _ = try await store.apply(.finalizePlanned(StoreFixture.promotion(of: job)), to: job)
        if name == "succeeded" { _ = try await store.apply(.finalized(nil), to: job) }
    }

    private func makeTokensAndAnswers() async throws {
        let grant = Permissions(.jobs, in: .matching([SessionPattern(trusted: "films")])) ?? .nothing
        let note = AuditNote(caller: nil, name: nil, address: "127.0.0.1", action: "token.create")
        let token = try await store.createToken(
            NewToken(name: films, grant: grant), with: TokenDigest([UInt8](repeating: 7, count: 32)), audit: note)
        let claim = IdempotencyClaim(
            caller: token.id.text, route: "POST /v1/jobs", key: "k", fingerprint: Data("b".utf8))
        var spec = JobSpec(url: "https://host/claimed?signature=fixture-query")
        spec.metadata = Metadata()
        _ = try await store.createJobs([NewJob(session: films, spec: spec)], once: claim) { jobs in
            IdempotentResponse(location: "/v1/jobs/\(jobs[0].id)", body: Array("{}".utf8))
        }
    }
}
