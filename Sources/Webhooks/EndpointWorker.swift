import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Logging
import Storage

/// Posts the due deliveries of one webhook in the order of events, several at once, so that one slow response does not
/// delay the others. `run` returns when no delivery is due or in progress.
///
/// Only the commit that records an attempt settles the delivery. After a crash before this commit, the delivery is posted again.
struct EndpointWorker: Sendable {
    let webhook: Int64
    let store: Store
    let attempt: DeliveryAttempt
    let log: Logger
    let reads: OutboxFailures
    let records: OutboxFailures
    let measurements: HistogramFamily<WebhookResult>
    /// Set when more deliveries may be due.
    let more = AsyncAutoResetEvent()

    private var time: any TimeSource { store.time }
    private var options: Dispatcher.Options { attempt.options }

    private enum Arrival: Sendable {
        case ended(DeliveryID)
        case moreDue
    }

    func run() async {
        await withTaskGroup(of: Arrival.self) { group in
            group.addTask { await waitForMore() }
            var underWay: Set<DeliveryID> = []
            while !Task.isCancelled {
                for delivery in await due(besides: underWay) {
                    underWay.insert(delivery.id)
                    group.addTask {
                        await deliver(delivery)
                        return .ended(delivery.id)
                    }
                }
                if underWay.isEmpty { break }
                switch await group.next() {
                case .ended(let id)?: underWay.remove(id)
                case .moreDue?: group.addTask { await waitForMore() }
                case nil: break
                }
            }
            group.cancelAll()
        }
    }

    private func waitForMore() async -> Arrival {
        await more.wait(until: nil, by: time)
        return .moreDue
    }

    private func due(besides underWay: Set<DeliveryID>) async -> [DueDelivery] {
        do {
            // Deliveries in progress are still pending in the outbox, and may be among the first.
            let concurrency = options.concurrencyPerWebhook
            let due = try await store.dueDeliveries(to: webhook, limit: concurrency + underWay.count)
            return Array(due.filter { !underWay.contains($0.id) }.prefix(concurrency - underWay.count))
        } catch {
            reads.note("read the outbox", error)
            try? await time.sleep(until: time.now.addingTimeInterval(options.retryInterval))
            return []
        }
    }

    private func deliver(_ delivery: DueDelivery) async {
        let (entry, verdict) = await attempt.run(delivery)
        if Task.isCancelled, verdict != .accepted { return }
        measurements[WebhookResult(entry)].record(seconds: entry.latencySeconds)
        if let error = entry.error {
            log.warning(
                "Delivery \(delivery.id) of event \(delivery.event.id) to webhook \(delivery.webhook.name) failed: \(error)",
                metadata: delivery.logFields)
        }
        await record(entry, of: delivery, verdict)
    }

    /// Repeats the record while the database fails. Otherwise the endpoint would get the delivery again and again for this time.
    /// After an error that does not pass, and after a stop of fetchd, it is posted again, under the same `webhook-id`.
    private func record(_ entry: Delivery.Attempt, of delivery: DueDelivery, _ verdict: DeliveryOutcome) async {
        var (hasFailed, canPass) = (false, true)
        while canPass {
            do {
                try await store.record(entry, of: delivery, verdict, mayBeStored: hasFailed)
                return records.end()
            } catch {
                records.note("record delivery \(delivery.id)", error, fields: delivery.logFields)
                hasFailed = true
                canPass = (error as? StoreError)?.canPass == true && !Task.isCancelled
            }
            try? await time.sleep(until: time.now.addingTimeInterval(options.retryInterval))
        }
    }
}

extension WebhookResult {
    fileprivate init(_ attempt: Delivery.Attempt) {
        self =
            switch attempt.status {
            case nil: .unanswered
            case (200..<300)?: .accepted
            case _?: .rejected
            }
    }
}

extension DueDelivery {
    /// The fields of a line of the log about this delivery.
    fileprivate var logFields: Logger.Metadata {
        var fields: Logger.Metadata = [
            "delivery": "\(id)", "event": .stringConvertible(event.id), "webhook": "\(webhook.name)",
            "session": "\(event.session)",
        ]
        if let job = event.job { fields["job"] = "\(job)" }
        if let trace { fields["trace"] = "\(trace.traceID)" }
        return fields
    }
}

/// Asks whether the endpoint of a webhook can be reached. It sends no event, and neither path, query nor headers of the
/// webhook: `HEAD /` of its host.
public struct EndpointProbe: Sendable {
    private let client: CurlClient
    private let publicAddresses: AddressPolicy

    /// - Parameters:
    ///   - client: with the address policy of webhooks.
    ///   - publicAddresses: the addresses for webhooks of the reach `public`.
    public init(client: CurlClient, publicAddresses: AddressPolicy) {
        self.client = client
        self.publicAddresses = publicAddresses
    }

    /// - Returns: why the endpoint cannot be reached; nil if it answers, with any status.
    public func fault(of webhook: Webhook) async -> String? {
        var request = TransferRequest(
            url: URLRule.origin(of: webhook.url) + "/", method: "HEAD", userAgent: "fetchd-doctor")
        request.restrict(to: webhook, within: .seconds(10)) { publicAddresses }
        do throws(TransferError) {
            _ = try await client.exchange(request, bodyLimit: 1024)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
