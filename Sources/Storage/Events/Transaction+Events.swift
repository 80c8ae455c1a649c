import Downloads
import Foundation

/// The journal: events are appended in the transaction of the change they report, and so are their deliveries.
extension Transaction {
    @discardableResult
    func append(_ type: EventType, session: Name, job: JobID?, data: JSONObject) throws -> EventID {
        try run(
            "INSERT INTO events (type, time, session, job, data) VALUES (?, ?, ?, ?, ?)",
            [type.rawValue, now.milliseconds, session.text, job?.text, JSON.object(data).written])
        let event = db.lastInsertedRowID
        try address(event, type, in: session)
        return event
    }

    private func address(_ event: EventID, _ type: EventType, in session: Name) throws {
        let webhooks = try rows(
            "SELECT key, name, events FROM webhooks WHERE session = ? AND state = 'enabled'", [session.text])
        for webhook in webhooks where WebhookRow.patterns(webhook["events"]).contains(where: { $0.matches(type) }) {
            try run(
                """
                INSERT INTO deliveries (id, webhook, name, session, event, type, state, next_attempt_at)
                VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)
                """,
                [
                    DeliveryID.make(nextULID()).text, webhook["key"] as Int64, webhook["name"] as String, session.text,
                    event, type.rawValue, now.milliseconds,
                ])
            wake(.deliveries)
        }
    }
}
