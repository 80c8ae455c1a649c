import Downloads
import Formats
import Foundation
import TestKit

@testable import Storage
@testable import StorageSQLite

/// A store whose clock jumps while it is open or closed.
final class ClockFixture {
    enum Situation: String, CaseIterable, Sendable {
        case running
        /// The service is stopped and started. The machine keeps running.
        case stopped
        /// The machine is switched off meanwhile.
        case rebooted
    }

    let folder: TemporaryFolder
    let time = ManualTime()
    private var opened: Store?

    init() async throws {
        folder = try TemporaryFolder()
        opened = try Store(at: folder.path, time: time)
        // The service has stored the time.
        try await store.followClock()
    }

    var store: Store { opened! }

    func reopen() async throws {
        try await opened?.close()
        opened = nil
        // A child process of another test may hold the lock for a moment longer.
        opened = try await eventually("the folder to be free") { try? Store(at: folder.path, time: time) }
    }

    /// Makes the clock jump in one of the situations, and makes the first commit after it.
    func jump(_ situation: Situation, by seconds: TimeInterval) async throws {
        switch situation {
        case .running: time.jump(by: seconds)
        case .stopped:
            time.jump(by: seconds)
            try await reopen()
        case .rebooted:
            time.reboot(after: seconds)
            try await reopen()
        }
        try await store.followClock()
    }

    // MARK: Something of everything that is to come

    /// The seconds that are left until each stored future time.
    struct Remaining: Equatable, CustomStringConvertible {
        var retry, space, finish, delivery, scheduled, resourceTime, expiry, failing, secret: TimeInterval?
        var isAnswerRemembered: Bool

        var description: String {
            "retry \(retry ?? -1), space \(space ?? -1), finish \(finish ?? -1), delivery \(delivery ?? -1), "
                + "resource \(resourceTime ?? -1), expiry \(expiry ?? -1), failing \(failing ?? -1), "
                + "secret \(secret ?? -1), answer \(isAnswerRemembered)"
        }
    }

    private static let due = Name(trusted: "due")
    private static let hook = Name(trusted: "hook")
    static let claim = IdempotencyClaim(caller: "me", route: "POST", key: "k", fingerprint: Data())
    private(set) var retrying: JobID?
    private var lacking: JobID?
    private(set) var failed: JobID?
    private var key: Int64 = 0

    /// Creates a job that waits 20 s for its retry and has used 100 s of its time, a job that waits for space, a failed
    /// job with a part, a due batch, a rejected delivery, a replaced secret and a remembered answer.
    func fill() async throws {
        var configuration = SessionConfiguration()
        configuration.finishDelaySeconds = 30
        configuration.acknowledgement = .expected
        _ = try await store.declareSession(Self.due, configuration: configuration)
        let hook = try await store.declareWebhook(
            Self.hook, of: .default,
            as: WebhookDeclaration(url: "https://consumer/", events: [EventPattern(trusted: "job.failed")])
        ).webhook
        key = hook.key
        _ = try await store.createJobs(
            [NewJob(session: .default, spec: JobSpec(url: "https://host/answered"))], once: Self.claim
        ) { _ in IdempotentResponse(location: nil, body: []) }
        var jobs = try await create(3)
        jobs += try await create(1, in: Self.due)
        _ = try await store.admitJobs(AdmissionLimits(jobs: 16, connectionsPerHost: 100)) { _ in }
        time.advance(by: 100)
        let cause = Failure(.connectionLost, "", attempts: 1, at: store.time.now)
        (retrying, lacking, failed) = (jobs[0], jobs[1], jobs[2])
        try await end(jobs[0], .attemptDeferred(Wait(.retry(until: store.time.now + 20), cause: cause)))
        try await end(jobs[1], .attemptDeferred(Wait(.space(until: store.time.now + 30), cause: cause)))
        try await end(jobs[2], .attemptFailed(cause), StoreFixture.part())
        try await end(jobs[3], .attemptFailed(cause))
        try await refuse()
        _ = try await store.rotateSecret(of: Self.hook, of: .default, to: nil)
    }

    private func create(_ count: Int, in session: Name = .default) async throws -> [JobID] {
        try await store.createJobs(
            (0..<count).map { NewJob(session: session, spec: JobSpec(url: "https://host/\($0)")) }
        ).map(\.id)
    }

    private func end(_ job: JobID, _ signal: JobSignal, _ part: Part? = nil) async throws {
        _ = try await store.apply(signal, to: job, AttemptReport(part: part))
    }

    /// Rejects the due delivery. It is attempted again after five minutes.
    func refuse() async throws {
        for delivery in try await store.dueDeliveries(to: key, limit: 10) {
            let attempt = Delivery.Attempt(
                at: store.time.now, status: 503, error: nil, latencySeconds: 0, response: nil)
            try await store.record(attempt, of: delivery, .rejected(retryAt: store.time.now + 300))
        }
    }

    var webhook: Webhook { get async throws { try await store.webhook(Self.hook, of: .default) } }

    func remaining() async throws -> Remaining {
        let now = store.time.now
        func left(_ date: Date?) -> TimeInterval? { date.map { $0.seconds(since: now) } }
        let (retrying, lacking) = (try await store.job(retrying!), try await store.job(lacking!))
        let delivery = try await store.deliveries(of: webhook, limit: 1).deliveries.first
        let next: Date? = if case .pending(let date)? = delivery?.state { date } else { nil }
        return Remaining(
            retry: left(retrying.state.wait?.until), space: left(lacking.state.wait?.until),
            finish: left(try await store.session(Self.due).finishDueAt), delivery: left(next),
            resourceTime: left(retrying.failsAt),
            expiry: left(try await store.job(failed!).part?.expiry.countdown?.end),
            failing: left(try await webhook.state.failingSince),
            secret: left(try await webhook.formerSecrets.first?.until),
            isAnswerRemembered: try await store.rememberedAnswer(to: Self.claim) != nil)
    }
}
