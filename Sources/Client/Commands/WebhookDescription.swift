import ArgumentParser
import Foundation

/// Formats a webhook or a delivery for the terminal.
enum WebhookDescription {
    static func show(_ answer: Answer, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let webhook = try answer.document(WebhookDocument.self)
        var sheet = Sheet()
        sheet.add("webhook", webhook.name)
        sheet.add("session", webhook.session)
        sheet.add("url", webhook.url)
        sheet.add("events", webhook.events.joined(separator: ", "))
        sheet.add("headers", webhook.headerNames.joined(separator: ", "))
        sheet.add("tls", tls(webhook.tls))
        sheet.add("reach", webhook.reach == "public" ? "public addresses, and those of --allow-webhook-network" : nil)
        sheet.add("state", webhook.state)
        sheet.add("attempts", attempts(webhook.statistics))
        sheet.add("latency", latency(webhook.statistics))
        sheet.add("pending", pending(webhook.statistics))
        sheet.add("why", webhook.disabledReason)
        sheet.add(
            "next", webhook.state == "disabled" ? "fetchd webhook enable -s \(webhook.session) \(webhook.name)" : nil)
        sheet.add("secret", webhook.secret)
        sheet.add("created", DisplayFormat.time(webhook.createdAt))
        try console.out.write(sheet.text(on: console.outTerminal))
        if webhook.secret != nil { console.say("Keep the secret: it is not shown again.") }
    }

    static func show(delivery answer: Answer, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let delivery = try answer.document(DeliveryDocument.self)
        var sheet = Sheet()
        sheet.add("delivery", delivery.id)
        sheet.add("webhook", "\(delivery.webhook) of \(delivery.session)")
        sheet.add("event", "\(delivery.event), \(delivery.type)")
        sheet.add("state", delivery.state)
        for attempt in delivery.attempts { sheet.add("attempt", Self.attempt(attempt)) }
        sheet.add("next attempt", delivery.nextAttemptAt.map(DisplayFormat.time))
        sheet.add("waits for", delivery.blockedBy.map { "an earlier event: fetchd webhook delivery \($0)" })
        sheet.add("again", "fetchd webhook redeliver \(delivery.id)")
        try console.out.write(sheet.text(on: console.outTerminal))
    }

    private static func tls(_ tls: WebhookDocument.TLS) -> String {
        let pins = tls.pinnedPublicKeys.values.reduce(0) { $0 + $1.count }
        return [
            tls.caFile, pins == 0 ? nil : DisplayFormat.count(pins, "pinned key"),
            tls.verify ? nil : "certificates are not verified",
        ].compactMap(\.self).joined(separator: ", ")
    }

    /// The attempts of the last day; the service counts at most a thousand.
    static func attempts(_ statistics: WebhookDocument.Statistics) -> String? {
        statistics.successRate.map { "\(statistics.attempts) in the last day, \(DisplayFormat.percent($0)) accepted" }
    }

    private static func latency(_ statistics: WebhookDocument.Statistics) -> String? {
        guard let median = statistics.medianLatencySeconds, let p95 = statistics.p95LatencySeconds else { return nil }
        return String(format: "median %.3f s, 95%% of the attempts within %.3f s", median, p95)
    }

    private static func pending(_ statistics: WebhookDocument.Statistics) -> String? {
        guard statistics.pending > 0 else { return nil }
        let oldest = statistics.oldestPendingAt.map { ", the oldest since \(DisplayFormat.time($0))" } ?? ""
        return "\(statistics.pending)\(oldest)"
    }

    private static func attempt(_ attempt: DeliveryDocument.Attempt) -> String {
        let latency = String(format: "%.3f s", attempt.latencySeconds)
        let status = attempt.status.map { "status \($0)" }
        return [DisplayFormat.time(attempt.at), status, latency, attempt.error].compactMap(\.self).joined(
            separator: ", ")
    }
}
