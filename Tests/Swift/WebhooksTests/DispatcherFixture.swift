import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Logging
import Storage
import StorageSQLite
import TestKit

@testable import Webhooks

/// A store, an endpoint and the dispatcher between them, with a manual clock.
struct DispatcherFixture: Sendable {
    let time = ManualTime()
    let store: Store
    let receiver: WebhookReceiver
    private let folder: TemporaryFolder
    private let dispatcher: Dispatcher

    private static let client = try! CurlClient(name: "post-fixture")

    private init(_ options: Dispatcher.Options) throws {
        folder = try TemporaryFolder()
        store = try Store(at: folder.path, time: time)
        receiver = try WebhookReceiver()
        dispatcher = Dispatcher(
            options: options, store: store, client: Self.client,
            log: Logger(label: "post-fixture") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs the dispatcher for as long as `body` takes.
    static func open(
        _ options: Dispatcher.Options = .init(), _ body: (DispatcherFixture) async throws -> Void
    ) async throws {
        let fixture = try DispatcherFixture(options)
        try await fixture.whileDispatching { try await body(fixture) }
        try await fixture.store.close()
    }

    /// Without a running dispatcher: the test starts it with `whileDispatching`.
    static func closed(_ options: Dispatcher.Options = .init()) throws -> DispatcherFixture {
        try DispatcherFixture(options)
    }

    func whileDispatching(_ body: () async throws -> Void) async throws {
        let run = Task { [dispatcher] in await dispatcher.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        run.cancel()
        await run.value
        try result.get()
    }

    static let webhook = Name(trusted: "receiver")

    @discardableResult
    func declareWebhook(
        _ name: String = Self.webhook.text, url: String? = nil, headers: [HeaderField] = [], tls: TLSRule = TLSRule(),
        reaching reach: WebhookReach = .any
    ) async throws -> Webhook {
        try await store.declareWebhook(
            Name(trusted: name), of: .default,
            as: WebhookDeclaration(
                url: url ?? receiver.url, events: [EventPattern(trusted: "job.created")], headers: headers, tls: tls),
            reaching: reach
        ).webhook
    }

    /// Creates a job, and so an event for the webhook.
    func happen() async throws {
        _ = try await store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://host/file"))])
    }

    // MARK: Results

    var webhook: Webhook { get async throws { try await store.webhook(Self.webhook, of: .default) } }

    /// Newest event first.
    var log: [Delivery] { get async throws { try await store.deliveries(of: webhook, limit: 1000).deliveries } }

    var journal: [Event] { get async throws { try await store.events(EventQuery(limit: 1000)).events } }

    // MARK: Time

    /// Waits until every due delivery was attempted.
    func settle() async throws {
        _ = try await eventually("everything that is due to be attempted") {
            try await store.webhooksDue().keys.isEmpty ? true : nil
        }
    }

    /// Advances the clock from one attempt to the next, until the seconds are over.
    func pass(_ seconds: TimeInterval) async throws {
        let end = time.now.addingTimeInterval(seconds)
        try await settle()
        while let next = try await store.webhooksDue().next, next <= end {
            time.advance(by: next.timeIntervalSince(time.now))
            try await settle()
        }
        time.advance(by: end.timeIntervalSince(time.now))
        try await settle()
    }
}
