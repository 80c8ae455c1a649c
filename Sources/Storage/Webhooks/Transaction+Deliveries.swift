import Downloads
import Formats
import Foundation
import GRDB

/// What an attempt to deliver changes: the log, the delivery, the webhook, and perhaps the batch whose finish it was.
extension Transaction {
    /// - Parameter due: the delivery as it was when the attempt began. If it was asked for again since then, it is sent
    ///   again, whatever this attempt came to.
    func record(_ attempt: Delivery.Attempt, of due: DueDelivery, _ verdict: DeliveryOutcome) throws {
        guard let delivery = try row("SELECT * FROM deliveries WHERE id = ?", [due.id.text]) else { return }
        let isOfThisRequest = delivery["requests"] == due.requests
        // The attempt of a delivery that was withdrawn meanwhile is logged as well.
        try log(attempt, of: due.id, isCounted: isOfThisRequest && expeditedFrom(delivery) == nil)
        let webhook: Int64 = delivery["webhook"]
        switch verdict {
        case .accepted:
            try run("UPDATE deliveries SET is_accepted = 1 WHERE id = ?", [due.id.text])
            if isOfThisRequest { try transitionDelivery(delivery, on: .accepted) }
            // Only its recovery is news: a 2xx among failures says nothing of what the endpoint will not take.
            if try transitionWebhook(webhook, on: .accepted) { try expediteDeliveries(to: webhook) }
            if due.event.type == .sessionFinished { try acknowledgeFinish(due.event.id) }
        case .rejected(let retryAt, let notBefore):
            // From now on no longer than it was meant to be: in between, the clock may have been set back.
            let (retryAt, notBefore) = (bounded(retryAt, after: attempt), bounded(notBefore, after: attempt))
            if isOfThisRequest { try reject(delivery, retryAt: retryAt, notBefore: notBefore) }
            try transitionWebhook(webhook, on: .rejected(at: now))
        case .gone:
            // Of an address that the webhook had before, this is no news.
            guard try self.webhook(webhook)?.url == due.webhook.url else { break }
            try transitionWebhook(webhook, on: .goneAnswered)
        }
        wake(.deliveries)
        wake(.sessions)
    }

    private func bounded(_ moment: Date?, after attempt: Delivery.Attempt) -> Date? {
        let end = attempt.at.addingTimeInterval(attempt.latencySeconds)
        return moment.map { $0.bounded(by: max(0, $0.timeIntervalSince(end)), from: now) }
    }

    /// Lets the delivery's machine decide.
    func transitionDelivery(_ delivery: Row, on signal: DeliverySignal) throws {
        guard let next = try DeliveryRow.state(delivery).after(signal) else { return }
        var retryAt: Date?
        if case .pending(let date) = next { retryAt = date }
        let isAnotherRequest = if case .redeliveryRequested = signal { true } else { false }
        try run(
            """
            UPDATE deliveries SET state = ?1, next_attempt_at = ?2, scheduled_at = NULL, not_before = 0,
                tries = CASE WHEN ?3 THEN 0 ELSE tries END, requests = requests + ?3
            WHERE id = ?4
            """, [next.name.rawValue, retryAt?.milliseconds, isAnotherRequest, delivery["id"] as String])
        wake(.deliveries)
    }

    /// A try that was hurried leaves the schedule as it was: an endpoint that takes everything but this event would
    /// have used all of it up in seconds.
    private func reject(_ delivery: Row, retryAt: Date?, notBefore: Date?) throws {
        let floor = notBefore ?? .distantPast
        guard let scheduled = expeditedFrom(delivery) else {
            try transitionDelivery(delivery, on: .rejected(retryAt: retryAt))
            return try keep(delivery, from: floor)
        }
        try transitionDelivery(delivery, on: .rejected(retryAt: max(scheduled, floor)))
        try keep(delivery, from: max(now.addingTimeInterval(Self.expediteInterval), floor))
    }

    /// Seconds: what failed although its endpoint had just recovered is not tried again at each of its recoveries.
    private static let expediteInterval: TimeInterval = 300

    /// However well its endpoint is, it is not tried before that.
    private func keep(_ delivery: Row, from moment: Date) throws {
        guard moment > now else { return }
        try run(
            "UPDATE deliveries SET not_before = ? WHERE id = ?", [moment.milliseconds, delivery["id"] as String])
    }

    /// When a delivery that is tried before its time would have been tried; nil for one whose time has come.
    private func expeditedFrom(_ delivery: Row) -> Date? {
        delivery.optionalTime("scheduled_at").flatMap { $0 > now ? $0 : nil }
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

    /// The endpoint is there again: what waits for its next try need not wait any longer than it was asked to.
    private func expediteDeliveries(to webhook: Int64) throws {
        try run(Self.expedite, [webhook, now.milliseconds])
    }

    static let expedite = """
        UPDATE deliveries SET scheduled_at = coalesce(scheduled_at, next_attempt_at),
            next_attempt_at = max(?2, not_before)
        WHERE webhook = ?1 AND state = 'pending' AND tries > 0 AND next_attempt_at > ?2 AND next_attempt_at > not_before
        """

    /// The endpoint is another, or somebody says that it is well: whatever it asked for before is of no account.
    func releaseDeliveries(to webhook: Int64) throws {
        try run(
            """
            UPDATE deliveries SET scheduled_at = coalesce(scheduled_at, next_attempt_at), next_attempt_at = ?2,
                not_before = 0
            WHERE webhook = ?1 AND state = 'pending' AND next_attempt_at > ?2
            """, [webhook, now.milliseconds])
        wake(.deliveries)
    }
}
