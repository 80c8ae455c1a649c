import Downloads
import Foundation
import GRDB

/// What an attempt to deliver changes: the log, the delivery, the webhook, and perhaps the batch whose finish it was.
extension Transaction {
    /// - Parameter due: as it was when the attempt began; what was asked for meanwhile holds.
    func record(_ attempt: Delivery.Attempt, of due: DueDelivery, _ verdict: DeliveryVerdict) throws {
        guard let delivery = try row("SELECT * FROM deliveries WHERE id = ?", [due.id.text]) else { return }
        // Asked for again, its schedule has begun anew: this was a try of the one before.
        let isOfThisSchedule = delivery["tries"] as Int >= due.tries
        // Withdrawn under way, it is still worth a line.
        try log(attempt, of: due.id, isCounted: isOfThisSchedule)
        let webhook: Int64 = delivery["webhook"]
        switch verdict {
        case .accepted:
            try send(.accepted, to: delivery)
            try send(.accepted, to: webhook)
            try hurryDeliveries(to: webhook)
            try acknowledgeFinish(delivery["event"])
        case .rejected(let retryAt):
            if isOfThisSchedule { try send(.rejected(retryAt: retryAt), to: delivery) }
            try send(.rejected(at: now), to: webhook)
        case .gone:
            // Of an address that the webhook had before, this is no news.
            guard try self.webhook(webhook)?.url == due.webhook.url else { break }
            try send(.goneAnswered, to: webhook)
        }
        wake(.deliveries)
        wake(.sessions)
    }

    /// Lets the delivery's machine decide.
    func send(_ signal: DeliverySignal, to delivery: Row) throws {
        guard let next = try DeliveryRow.state(delivery).after(signal) else { return }
        var retryAt: Date?
        if case .pending(let date) = next { retryAt = date }
        // Asked for again, the schedule begins anew.
        let isAnew = if case .redeliveryRequested = signal { true } else { false }
        try run(
            "UPDATE deliveries SET state = ?, next_attempt_at = ?, tries = CASE WHEN ? THEN 0 ELSE tries END WHERE id = ?",
            [next.name.rawValue, retryAt?.milliseconds, isAnew, delivery["id"] as String])
        wake(.deliveries)
    }

    private func log(_ attempt: Delivery.Attempt, of id: DeliveryID, isCounted: Bool) throws {
        try run(
            """
            INSERT INTO delivery_attempts (delivery, number, at, status, error, latency_seconds, response)
            SELECT ?, count(*) + 1, ?, ?, ?, ?, ? FROM delivery_attempts WHERE delivery = ?
            """,
            [
                id.text, attempt.at.milliseconds, attempt.status, attempt.error, attempt.latencySeconds,
                attempt.response, id.text,
            ])
        if isCounted { try run("UPDATE deliveries SET tries = tries + 1 WHERE id = ?", [id.text]) }
    }

    /// The endpoint is there again: what waits for its next try need not wait any longer.
    private func hurryDeliveries(to webhook: Int64) throws {
        try run(
            "UPDATE deliveries SET next_attempt_at = ? WHERE webhook = ? AND state = 'pending' AND next_attempt_at > ?",
            [now.milliseconds, webhook, now.milliseconds])
    }
}
