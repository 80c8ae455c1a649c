import Base
import CurlClient
import Formats
import Foundation
import Logging
import Storage

/// Posts the deliveries of the outbox, each at least once, until the endpoint acknowledges the delivery or no attempt is left.
///
/// Each webhook with due deliveries has its own worker, so that a dead or slow endpoint delays no other.
public actor Dispatcher {
    public struct Options: Sendable {
        public var schedule = RetrySchedule.standard
        /// The maximum number of concurrent deliveries to one endpoint.
        public var concurrencyPerWebhook = 8
        public var timeout: Duration = .seconds(20)
        /// The number of bytes of a response that are read.
        public var responseLimit = 1024
        /// Whether the delivery log keeps the body of a response from this address. Otherwise a webhook with an internal
        /// address would show any page of that address to the clients of the API.
        public var keepsResponse: @Sendable (IPAddress) -> Bool = \.isPublic

        /// The addresses for webhooks that may not be posted to any address. The dispatcher asks for each attempt.
        public var publicAddresses: @Sendable () -> AddressPolicy = { AddressPolicy() }

        /// The seconds between two attempts to read or write the outbox while the database fails.
        public var retryInterval: TimeInterval = 1

        public init() {}
    }

    private let options: Options
    private let store: Store
    private let attempt: DeliveryAttempt
    private let time: any TimeSource
    private let log: Logger
    private let reads: OutboxFailures
    /// The failures of the workers. Another worker can succeed meanwhile, so nothing ends them.
    private let workerReads: OutboxFailures
    private let records: OutboxFailures
    public nonisolated let measurements = HistogramFamily<WebhookResult>(.requests)
    /// The running workers, by the key of the webhook.
    private var workers: [Int64: EndpointWorker] = [:]

    public init(options: Options = Options(), store: Store, client: CurlClient, log: Logger) {
        self.options = options
        self.store = store
        time = store.time
        self.log = log
        reads = OutboxFailures(of: "read the outbox", time: store.time, log: log)
        workerReads = OutboxFailures(of: "read the outbox", time: store.time, log: log)
        records = OutboxFailures(of: "record deliveries", time: store.time, log: log)
        attempt = DeliveryAttempt(client: client, options: options, time: store.time)
    }

    /// Runs until the task is cancelled. Cancellation ends the attempts in progress, which do not count.
    public func run() async {
        // This group keeps no results, because workers start and end for as long as the service runs.
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let (webhooks, next) = await dueWebhooks()
                for webhook in webhooks { sendOut(to: webhook, &group) }
                await store.work(.deliveries).wait(until: next, by: time)
            }
        }
    }

    /// - Returns: the webhooks with a due delivery, and the time to check again if no signal comes earlier.
    private func dueWebhooks() async -> (keys: [Int64], next: Date?) {
        do {
            let (keys, next) = try await store.webhooksDue()
            reads.end()
            // The clock can change while another process follows its jump.
            let latest = time.now.addingTimeInterval(Store.longestPollInterval)
            return (keys, min(next ?? latest, latest))
        } catch {
            reads.note("read the due deliveries", error)
            return ([], time.now.addingTimeInterval(options.retryInterval))
        }
    }

    private func sendOut(to webhook: Int64, _ group: inout DiscardingTaskGroup) {
        if let worker = workers[webhook] { return worker.more.set() }
        let worker = EndpointWorker(
            webhook: webhook, store: store, attempt: attempt, log: log, reads: workerReads, records: records,
            measurements: measurements)
        workers[webhook] = worker
        group.addTask { await self.follow(worker) }
    }

    private func follow(_ worker: EndpointWorker) async {
        await worker.run()
        workers[worker.webhook] = nil
        // Deliveries may have become due while the worker returned.
        store.work(.deliveries).set()
    }
}

/// Logs the failures of an operation on the outbox, which is repeated while the database fails: the first one, one of each
/// later minute, and their end.
struct OutboxFailures: Sendable {
    private let operation: String
    private let time: any TimeSource
    private let log: Logger
    private let failures = Locked(RepeatedFailures())

    /// - Parameter operation: completes "fetchd can ... again".
    init(of operation: String, time: any TimeSource, log: Logger) {
        self.operation = operation
        self.time = time
        self.log = log
    }

    /// - Parameters:
    ///   - what: completes "Could not ...".
    ///   - fields: of the line.
    func note(_ what: String, _ error: any Error, fields: Logger.Metadata = [:]) {
        guard let count = failures.withLock({ $0.note(at: time.uptime) }) else { return }
        log.error("Could not \(what): \(error). fetchd tries again.\(RepeatedFailures.suffix(count))", metadata: fields)
    }

    /// The operation has succeeded.
    func end() { if failures.withLock({ $0.end() }) { log.notice("fetchd can \(operation) again.") } }
}
