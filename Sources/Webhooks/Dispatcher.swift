import CurlClient
import Downloads
import Foundation
import Logging
import Storage

/// Posts what is in the outbox, at least once, until it is acknowledged or given up.
///
/// Each webhook has a courier of its own while it has something due, so that a dead or slow endpoint holds up nobody but
/// itself. A delivery is only ever settled by the commit that records its attempt: whatever happens before is done again.
public actor Dispatcher {
    public struct Options: Sendable {
        public var schedule = RetrySchedule.standard
        /// Deliveries under way to one endpoint at once.
        public var concurrencyPerWebhook = 8
        /// For one exchange as a whole.
        public var timeout: Duration = .seconds(20)
        /// Bytes of an answer that are read.
        public var responseLimit = 16 * 1024

        public init() {}
    }

    private let options: Options
    private let store: Store
    private let attempt: DeliveryAttempt
    private let time: any TimeSource
    private let log: Logger
    /// Webhooks that a courier is out for.
    private var served: Set<Int64> = []

    public init(
        options: Options = Options(), store: Store, client: CurlClient, time: any TimeSource = SystemTime(),
        log: Logger
    ) {
        self.options = options
        self.store = store
        self.time = time
        self.log = log
        attempt = DeliveryAttempt(
            client: client, schedule: options.schedule, time: time, timeout: options.timeout,
            responseLimit: options.responseLimit)
    }

    /// Runs until the task is cancelled; what is under way then is ended and counts as not sent.
    public func run() async {
        await withTaskGroup(of: Void.self) { couriers in
            while !Task.isCancelled {
                let next = sendOut(&couriers)
                await store.deliveriesDue.wait(until: next, by: time)
            }
        }
    }

    /// - Returns: when to look again without being woken.
    private func sendOut(_ couriers: inout TaskGroup<Void>) -> Date? {
        do {
            let (webhooks, next) = try store.webhooksDue()
            for webhook in webhooks where served.insert(webhook).inserted {
                couriers.addTask { await self.serve(webhook) }
            }
            return next
        } catch {
            log.error("Could not read the outbox: \(error). Trying again in a second.")
            return time.now.addingTimeInterval(1)
        }
    }

    private func serve(_ webhook: Int64) async {
        while !Task.isCancelled, await deliverNext(to: webhook) {}
        served.remove(webhook)
        // What became due while the courier was on the way back.
        store.deliveriesDue.ring()
    }

    /// - Returns: false when nothing is due.
    private func deliverNext(to webhook: Int64) async -> Bool {
        do {
            let due = try store.dueDeliveries(to: webhook, limit: options.concurrencyPerWebhook)
            await withTaskGroup(of: Void.self) { group in
                for delivery in due { group.addTask { await self.deliver(delivery) } }
            }
            return !due.isEmpty
        } catch {
            log.error("Could not read the outbox: \(error). Trying again in a second.")
            try? await time.sleep(until: time.now.addingTimeInterval(1))
            return true
        }
    }

    private nonisolated func deliver(_ delivery: DueDelivery) async {
        let (entry, verdict) = await attempt.run(delivery)
        if Task.isCancelled, verdict != .accepted { return }
        if let error = entry.error {
            log.warning(
                "Delivery \(delivery.id) of event \(delivery.event.id) to webhook \(delivery.webhook.name) failed: \(error)"
            )
        }
        await record(entry, of: delivery, verdict)
    }

    private nonisolated func record(
        _ entry: Delivery.Attempt, of delivery: DueDelivery, _ verdict: DeliveryVerdict
    ) async {
        do {
            try await store.record(entry, of: delivery.id, verdict)
        } catch {
            // It will be sent again, under the same webhook-id.
            log.error("Could not record delivery \(delivery.id): \(error).")
            try? await time.sleep(until: time.now.addingTimeInterval(1))
        }
    }
}
