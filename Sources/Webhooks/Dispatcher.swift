import CurlClient
import Formats
import Foundation
import Logging
import Storage

/// Posts the deliveries of the outbox, each at least once, until the endpoint acknowledges it or its attempts are used up.
///
/// Each webhook has a worker of its own while it has due deliveries, so that a dead or slow endpoint delays no other.
public actor Dispatcher {
    public struct Options: Sendable {
        public var schedule = RetrySchedule.standard
        /// Deliveries under way to one endpoint at once.
        public var concurrencyPerWebhook = 8
        /// For one exchange as a whole.
        public var timeout: Duration = .seconds(20)
        /// Bytes of an answer that are read.
        public var responseLimit = 16 * 1024

        /// Seconds between two tries to read or write the outbox while the database fails.
        public var retryInterval: TimeInterval = 1

        public init() {}
    }

    private let options: Options
    private let store: Store
    private let attempt: DeliveryAttempt
    private let time: any TimeSource
    private let log: Logger
    /// The workers that run, by webhook.
    private var workers: [Int64: EndpointWorker] = [:]

    public init(
        options: Options = Options(), store: Store, client: CurlClient, log: Logger
    ) {
        self.options = options
        self.store = store
        time = store.time
        self.log = log
        attempt = DeliveryAttempt(
            client: client, schedule: options.schedule, time: store.time, timeout: options.timeout,
            responseLimit: options.responseLimit)
    }

    /// Runs until the task is cancelled. That ends the attempts under way, and they count as not sent.
    public func run() async {
        // A group that keeps no results: workers come and go for as long as the service runs.
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let (webhooks, next) = await dueWebhooks()
                for webhook in webhooks { sendOut(to: webhook, &group) }
                await store.work(.deliveries).wait(until: next, by: time)
            }
        }
    }

    /// - Returns: the webhooks with a due delivery, and when to look again without a ring.
    private func dueWebhooks() async -> (keys: [Int64], next: Date?) {
        do {
            return try await store.webhooksDue()
        } catch {
            log.error("Could not read the outbox: \(error). Trying again in a second.")
            return ([], time.now.addingTimeInterval(options.retryInterval))
        }
    }

    private func sendOut(to webhook: Int64, _ group: inout DiscardingTaskGroup) {
        if let worker = workers[webhook] { return worker.more.set() }
        let worker = EndpointWorker(
            webhook: webhook, concurrency: options.concurrencyPerWebhook, retryInterval: options.retryInterval,
            store: store, attempt: attempt, time: time,
            log: log)
        workers[webhook] = worker
        group.addTask { await self.follow(worker) }
    }

    private func follow(_ worker: EndpointWorker) async {
        await worker.run()
        workers[worker.webhook] = nil
        // What became due while the worker was returning.
        store.work(.deliveries).set()
    }
}
