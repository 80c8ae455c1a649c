import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage

/// One POST of an event to an endpoint, and the verdict on the response.
struct DeliveryAttempt: Sendable {
    let client: CurlClient
    let schedule: RetrySchedule
    let time: any TimeSource
    /// For the whole exchange: name resolution, connection, request and response.
    let timeout: Duration
    /// The addresses for webhooks that may not be posted to any address.
    let publicAddresses: @Sendable () -> AddressPolicy
    /// The number of bytes of the response that are logged.
    let responseLimit: Int
    /// Whether the body of a response from this address is logged.
    let keepsResponse: @Sendable (IPAddress) -> Bool

    func run(_ delivery: DueDelivery) async -> (log: Delivery.Attempt, verdict: DeliveryOutcome) {
        let (at, started) = (time.now, time.uptime)
        let answer: Result<ExchangeResponse, TransferError>
        // A secret that begins in the logged bytes must be read to its end, or its beginning would be logged.
        let limit = responseLimit + (secrets(of: delivery.webhook).map(\.utf8.count).max() ?? 0)
        do throws(TransferError) {
            answer = .success(try await client.exchange(request(for: delivery, at: at), bodyLimit: limit))
        } catch {
            answer = .failure(error)
        }
        let log = Delivery.Attempt(
            at: at, status: status(of: answer), error: error(of: answer),
            latencySeconds: (time.uptime - started).seconds,
            response: body(of: answer, withoutSecretsOf: delivery.webhook))
        return (log, verdict(on: answer, tries: delivery.tries + 1, at: time.now))
    }

    private func request(for delivery: DueDelivery, at now: Date) -> TransferRequest {
        let body = delivery.event.posted.bytes
        let timestamp = Int64(now.timeIntervalSince1970)
        let webhook = delivery.webhook
        let signature = WebhookSignature.sign(
            id: delivery.id, timestamp: timestamp, body: body, with: webhook.secrets(at: now))
        var request = TransferRequest(
            url: webhook.url, method: "POST",
            headers: [
                ("Content-Type", "application/json"), ("webhook-id", delivery.id.text),
                ("webhook-timestamp", String(timestamp)), ("webhook-signature", signature),
            ] + delivery.traceFields + webhook.headers.map { (name: $0.name, value: $0.value) },
            body: body, userAgent: "fetchd-webhooks",
            timeouts: .init(connect: timeout, idle: timeout, total: timeout),
            tls: .init(
                caFile: webhook.tls.caFile, pinnedPublicKeys: webhook.tls.pinnedPublicKeys.values.flatMap(\.self),
                verifies: webhook.tls.verify))
        switch webhook.reach {
        case .any: break
        case .public: request.addressPolicy = publicAddresses()
        }
        return request
    }

    private func verdict(
        on answer: Result<ExchangeResponse, TransferError>, tries: Int, at now: Date
    ) -> DeliveryOutcome {
        switch status(of: answer) {
        case let status? where (200..<300).contains(status): return .accepted
        case 410?: return .gone
        default:
            let floor = schedule.floor(retryAfter: retryAfter(of: answer, at: now), at: now)
            let next = schedule.next(afterAttempts: tries, notBefore: floor, at: now, jitter: .random(in: 0...1))
            return .rejected(retryAt: next, notBefore: floor)
        }
    }

    private func status(of answer: Result<ExchangeResponse, TransferError>) -> Int? {
        (try? answer.get())?.status
    }

    /// A sentence for the log; nil for a 2xx.
    private func error(of answer: Result<ExchangeResponse, TransferError>) -> String? {
        switch answer {
        case .success(let response) where (200..<300).contains(response.status): nil
        case .success(let response) where (300..<400).contains(response.status):
            "The endpoint redirects, which is not followed; declare the webhook with the address it redirects to."
        case .success(let response): "The endpoint answered \(response.status)."
        case .failure(let error): "The endpoint did not take it: \(error)."
        }
    }

    private func body(
        of answer: Result<ExchangeResponse, TransferError>, withoutSecretsOf webhook: Webhook
    ) -> String? {
        guard let response = try? answer.get(), !response.body.isEmpty else { return nil }
        guard let address = response.metrics.remoteAddress.flatMap({ IPAddress($0) }), keepsResponse(address) else {
            return nil
        }
        // SQLite would end a text at its first NUL.
        let text = String(decoding: response.body, as: UTF8.self).replacing("\u{0}", with: "\u{FFFD}")
        // Some endpoints answer with the request.
        let shown = secrets(of: webhook).reduce(text) { $0.replacing($1, with: "[secret]") }
        return String(decoding: shown.utf8.prefix(responseLimit), as: UTF8.self)
    }

    private func secrets(of webhook: Webhook) -> [String] {
        let values = webhook.headers.map(\.value) + webhook.secrets(at: .distantPast).map(\.text)
        return (values + URLRule.secrets(of: webhook.url)).filter { $0.utf8.count >= Self.shortestSecret }
    }

    /// Bytes. A shorter value of a header is not a secret, and could occur in any text.
    private static let shortestSecret = 4

    private func retryAfter(of answer: Result<ExchangeResponse, TransferError>, at now: Date) -> Double? {
        guard let response = try? answer.get() else { return nil }
        return ResponseFacts(status: response.status, headers: response.headers).retryDelay(at: now)
    }
}

extension DueDelivery {
    /// The fields that name the trace of the job, with a new identifier for this attempt. Those that the webhook itself
    /// names are not replaced.
    fileprivate var traceFields: [(name: String, value: String)] {
        guard let trace,
            !webhook.headers.contains(where: { ["traceparent", "tracestate"].contains($0.name.lowercased()) })
        else { return [] }
        return trace.child().fields
    }
}
