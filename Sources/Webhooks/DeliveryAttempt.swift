import Base
import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage

/// One POST of an event to an endpoint, and the verdict on the response.
struct DeliveryAttempt: Sendable {
    let client: CurlClient
    let options: Dispatcher.Options
    let time: any TimeSource

    func run(_ delivery: DueDelivery) async -> (log: Delivery.Attempt, verdict: DeliveryOutcome) {
        let (at, started) = (time.now, time.uptime)
        let answer: Result<ExchangeResponse, TransferError>
        // A secret that begins in the logged bytes must be read to its end, or its beginning would be logged.
        let limit = options.responseLimit + (secrets(of: delivery.webhook).map(\.utf8.count).max() ?? 0)
        let request = request(for: delivery, at: at)
        do throws(TransferError) {
            answer = .success(
                try await client.exchange(request, bodyLimit: limit, bodyWithin: Self.patienceForBody))
        } catch {
            answer = .failure(error)
        }
        let log = Delivery.Attempt(
            at: at, status: status(of: answer), error: error(of: answer),
            latencySeconds: (time.uptime - started).seconds,
            response: body(of: answer, withoutSecretsOf: delivery.webhook),
            exchange: Delivery.Exchange(
                url: URLRule.redacted(request.url), request: sentFields(of: request, to: delivery.webhook),
                answer: fields(of: answer, withoutSecretsOf: delivery.webhook)))
        return (log, verdict(on: answer, tries: delivery.tries + 1, at: time.now))
    }

    /// The head of an answer is the verdict. The body is for the log only.
    private static let patienceForBody = Duration.seconds(1)

    private func request(for delivery: DueDelivery, at now: Date) -> TransferRequest {
        let webhook = delivery.webhook
        let body = delivery.event.posted(as: webhook.format, of: delivery.id).bytes
        let timestamp = Int64(now.timeIntervalSince1970)
        let signature = WebhookSignature.sign(
            id: delivery.id, timestamp: timestamp, body: body,
            with: webhook.signatures.contains(.v1) ? webhook.secrets(at: now) : [], keys: delivery.signingKeys)
        var request = TransferRequest(
            url: webhook.url, method: "POST",
            headers: [
                ("Content-Type", webhook.format.mediaType), ("webhook-id", delivery.id.text),
                ("webhook-timestamp", String(timestamp)), ("webhook-signature", signature),
            ] + delivery.traceFields + webhook.headers.map { (name: $0.name, value: $0.value) },
            body: body, userAgent: "fetchd-webhooks")
        request.restrict(to: webhook, within: options.timeout, publicAddresses: options.publicAddresses)
        return request
    }

    private func verdict(
        on answer: Result<ExchangeResponse, TransferError>, tries: Int, at now: Date
    ) -> DeliveryOutcome {
        switch status(of: answer) {
        case let status? where (200..<300).contains(status): return .accepted
        case 410?: return .gone
        default:
            let floor = options.schedule.floor(retryAfter: retryAfter(of: answer, at: now), at: now)
            let next = options.schedule.next(
                afterAttempts: tries, notBefore: floor, at: now, jitter: .random(in: 0...1))
            return .rejected(retryAt: next, notBefore: floor)
        }
    }

    private func status(of answer: Result<ExchangeResponse, TransferError>) -> Int? { (try? answer.get())?.status }

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

    // MARK: The log

    /// The fields of the request, with those that libcurl adds. The webhook's own are not shown.
    private func sentFields(of request: TransferRequest, to webhook: Webhook) -> [HeaderField] {
        let own = Set(webhook.headers.map { $0.name.lowercased() })
        let added = [
            ("User-Agent", request.userAgent ?? ""), ("Content-Length", String(request.body?.count ?? 0)),
        ]
        return (added + request.headers.map { ($0.name, $0.value) }).map { name, value in
            HeaderField(name: name, value: own.contains(name.lowercased()) ? "[redacted]" : value)
        }
    }

    /// The fields of the response, up to a limit; nil if there is none that may be shown.
    private func fields(
        of answer: Result<ExchangeResponse, TransferError>, withoutSecretsOf webhook: Webhook
    ) -> [HeaderField]? {
        guard let response = try? answer.get(), keeps(response) else { return nil }
        var room = Self.largestHead
        let shown = response.headers.filter { $0.name.lowercased() != "set-cookie" }.prefix { field in
            room -= field.name.utf8.count + field.value.utf8.count + 4
            return room >= 0
        }
        let secrets = secrets(of: webhook)
        return shown.map { HeaderField(name: $0.name, value: hiding(secrets, in: $0.value)) }
    }

    /// In bytes.
    private static let largestHead = 8 << 10

    private func keeps(_ response: ExchangeResponse) -> Bool {
        response.metrics.remoteAddress.flatMap { IPAddress($0) }.map(options.keepsResponse) ?? false
    }

    /// Some endpoints answer with the request. SQLite would end a text at its first NUL.
    private func hiding(_ secrets: [String], in text: String) -> String {
        secrets.reduce(text.replacing("\u{0}", with: "\u{FFFD}")) { $0.replacing($1, with: "[secret]") }
    }

    private func body(
        of answer: Result<ExchangeResponse, TransferError>, withoutSecretsOf webhook: Webhook
    ) -> String? {
        guard let response = try? answer.get(), !response.body.isEmpty, keeps(response) else { return nil }
        let secrets = secrets(of: webhook)
        var shown = hiding(secrets, in: String(decoding: response.body, as: UTF8.self))
        if response.bodyTruncated { shown = shown.withoutBeginning(of: secrets, atLeast: Self.shortestSecret) }
        return String(decoding: shown.utf8.prefix(options.responseLimit), as: UTF8.self)
    }

    private func secrets(of webhook: Webhook) -> [String] {
        let values = webhook.headers.map(\.value) + webhook.secrets(at: .distantPast).map(\.text)
        return (values + URLRule.secrets(of: webhook.url)).filter { $0.utf8.count >= Self.shortestSecret }
    }

    /// In bytes. A shorter value of a header is not a secret, and could occur in any text.
    private static let shortestSecret = 4

    private func retryAfter(of answer: Result<ExchangeResponse, TransferError>, at now: Date) -> Double? {
        guard let response = try? answer.get() else { return nil }
        return ResponseFacts(status: response.status, headers: response.headers).retryDelay(at: now)
    }
}

extension String {
    /// The text without the beginning of a secret at its end, where the body broke off.
    fileprivate func withoutBeginning(of secrets: [String], atLeast shortest: Int) -> String {
        for secret in secrets {
            let lengths = stride(from: min(secret.utf8.count, utf8.count), through: shortest, by: -1)
            if let length = lengths.first(where: { utf8.suffix($0).elementsEqual(secret.utf8.prefix($0)) }) {
                return String(decoding: utf8.dropLast(length), as: UTF8.self) + "[secret]"
            }
        }
        return self
    }
}

extension TransferRequest {
    /// Applies the TLS settings and the reach of a webhook.
    mutating func restrict(to webhook: Webhook, within limit: Duration, publicAddresses: () -> AddressPolicy) {
        timeouts = .init(connect: limit, idle: limit, total: limit)
        tls = .init(
            caFile: webhook.tls.caFile, pinnedPublicKeys: webhook.tls.pinnedPublicKeys.values.flatMap(\.self),
            verifies: webhook.tls.verify)
        switch webhook.reach {
        case .any: break
        case .public: addressPolicy = publicAddresses()
        }
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

/// How an endpoint answered a post, for metrics.
public enum WebhookResult: String, Sendable, CaseIterable {
    case accepted
    /// The endpoint answered another status.
    case rejected
    /// There was no connection, or no answer in time.
    case unanswered
}

/// Signs by Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks, spec): HMAC-SHA256 over
/// `id.timestamp.body`, in base64, after the version `v1`. Each secret gives one signature. Spaces separate the signatures.
enum WebhookSignature {
    /// - Parameter timestamp: the time of this attempt, in seconds since 1970.
    static func sign(
        id: DeliveryID, timestamp: Int64, body: [UInt8], with secrets: [WebhookSecret], keys: [SigningKey] = []
    ) -> String {
        var content = Array("\(id).\(timestamp).".utf8)
        content += body
        let codes = secrets.map { "v1," + Self.base64(MessageAuthentication.hmacSHA256(content, key: Array($0.key))) }
        let signatures = keys.map { "v1a," + Self.base64($0.signature(of: content)) }
        return (codes + signatures).joined(separator: " ")
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }
}

/// The times at which a delivery is attempted: at once, then after growing delays, until no delay is left.
public struct RetrySchedule: Sendable, Equatable {
    /// The seconds before each attempt, including the first. There is at least one element.
    public var delays: [Double]

    /// 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: the example of Standard Webhooks 1.0.0.
    public static let standard = RetrySchedule(delays: [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])

    public init(delays: [Double]) { self.delays = delays }

    /// The time of the next attempt; nil if none is left.
    ///
    /// - Parameters:
    ///   - attempts: the number of attempts so far, including the failed one.
    ///   - floor: the earliest time that the endpoint asks for. It can lengthen a delay, but never shorten it.
    ///   - jitter: 0 to 1. Adds up to a tenth of the delay, so that deliveries that failed together are not repeated
    ///     together.
    func next(afterAttempts attempts: Int, notBefore floor: Date?, at now: Date, jitter: Double) -> Date? {
        guard attempts < delays.count else { return nil }
        return max(now.addingTimeInterval(delays[attempts] * (1 + jitter * Self.jitter)), floor ?? now)
    }

    /// The earliest time that the endpoint asks for; nil if it sent no `Retry-After`.
    ///
    /// - Parameter retryAfter: in seconds.
    func floor(retryAfter: Double?, at now: Date) -> Date? {
        retryAfter.map { now.addingTimeInterval(min($0, Self.longestRetryAfter)) }
    }

    /// The longest time between two attempts, in seconds: by the schedule, or because the endpoint asks for it.
    public var longestDelay: TimeInterval { max((delays.max() ?? 0) * (1 + Self.jitter), Self.longestRetryAfter) }

    /// The largest part of a delay that jitter adds.
    private static let jitter = 0.1

    /// In seconds. An endpoint cannot delay a delivery for longer than this.
    private static let longestRetryAfter = 86_400.0
}
