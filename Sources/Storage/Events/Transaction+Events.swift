import Downloads
import Formats
import Foundation

/// Appends events to the journal, in the transaction of the change that they report and together with their deliveries.
extension Transaction {
    @discardableResult
    func append(_ type: EventType, session: Name, job: JobID?, data: JSONObject) throws -> EventID {
        let text = JSON.object(data).written
        let event = try numbers.take(1, in: db).lowerBound
        try run(
            "INSERT INTO events (id, type, time, session, job, data) VALUES (?, ?, ?, ?, ?, ?)",
            [event, type.rawValue, now.milliseconds, session.text, job?.text, text])
        note(
            Event(
                id: event, type: type, time: Date(milliseconds: now.milliseconds), session: session, job: job,
                data: text))
        // A test event goes to the tested webhook only.
        if type != .webhookTest { try address(event, type, in: session) }
        return event
    }

    /// The identifier of the last event that was ever appended; 0 before the first.
    func lastEvent() throws -> EventID { try numbers.last(in: db) }

    private func address(_ event: EventID, _ type: EventType, in session: Name) throws {
        for webhook in try receivers(of: type, in: session) { try deliver(event, type, in: session, to: webhook) }
    }

    typealias WebhookReceiver = (key: Int64, name: String)

    /// The enabled webhooks of the session that want events of this type.
    func receivers(of type: EventType, in session: Name) throws -> [WebhookReceiver] {
        try subscriptions(of: session).filter { $0.includes(type) }.map { (key: $0.key, name: $0.name) }
    }

    private func subscriptions(of session: Name) throws -> [WebhookSubscription] {
        if let known = working.subscriptions[session] { return known }
        let webhooks = try rows(
            "SELECT key, name, events FROM webhooks WHERE session = ? AND state = 'enabled'", [session.text]
        ).map { WebhookSubscription(key: $0["key"], name: $0["name"], patterns: WebhookRow.patterns($0["events"])) }
        working.subscriptions.note(webhooks, for: session)
        return webhooks
    }

    /// Adds a pending delivery of an event to a webhook.
    @discardableResult
    func deliver(
        _ event: EventID, _ type: EventType, in session: Name, to webhook: WebhookReceiver
    ) throws -> DeliveryID {
        let id = DeliveryID.make(nextULID())
        try run(
            """
            INSERT INTO deliveries (id, webhook, name, session, event, type, state, next_attempt_at)
            VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)
            """,
            [id.text, webhook.key, webhook.name, session.text, event, type.rawValue, now.milliseconds])
        countDeliveries(from: nil, to: .pending)
        try leaseWebhook(webhook.key)
        wake(.deliveries)
        return id
    }
}
