import Downloads
import Formats
import Foundation

public enum DeliveryOutcome: Sendable, Equatable {
    case accepted
    /// Any other status, or no response. `retryAt` is nil when the schedule has no further attempt. `notBefore` is the
    /// earliest time that the endpoint allows.
    case rejected(retryAt: Date?, notBefore: Date? = nil)
    /// The status was 410: the endpoint wants no more events.
    case gone
}

extension Transaction {
    /// A failure at an endpoint that a client has replaced during the attempt does not count. The delivery is still due,
    /// and goes to the new endpoint at once.
    ///
    /// - Parameters:
    ///   - due: the delivery when the attempt began. If the delivery was requested again since, it is sent again after any
    ///     outcome.
    ///   - mayBeStored: whether an earlier call for this attempt failed. Its commit can have succeeded, and then this call
    ///     has no effect.
    func record(
        _ attempt: Delivery.Attempt, of due: DueDelivery, _ verdict: DeliveryOutcome, mayBeStored: Bool
    ) throws {
        guard let delivery = try row("SELECT * FROM deliveries WHERE id = ?", [due.id.text]),
            try !mayBeStored || !isLogged(attempt, of: due.id)
        else { return }
        let isOfThisRequest = try delivery["requests"] == due.requests
        // An attempt of a delivery that was cancelled meanwhile is logged as well.
        let webhook: Int64 = try delivery["webhook"]
        let present = try self.webhook(webhook)
        let isOfThisEndpoint = present?.reaches(asDoes: due.webhook) ?? true
        let isCounted = try isOfThisRequest && isOfThisEndpoint && expeditedFrom(delivery) == nil
        try log(attempt, of: due.id, to: webhook, isCounted: isCounted)
        switch verdict {
        case .accepted:
            try run("UPDATE deliveries SET is_accepted = 1 WHERE id = ?", [due.id.text])
            if isOfThisRequest { try transitionDelivery(delivery, on: .accepted) }
            // Only the recovery of a failing webhook expedites its deliveries. A 2xx between failures does not show
            // that the endpoint accepts the others.
            if try transitionWebhook(webhook, on: .accepted) { try run(Self.expedite, [webhook, now.milliseconds]) }
            if due.event.type == .sessionFinished { try acknowledgeFinish(due.event.id) }
        case .rejected where !isOfThisEndpoint: break
        case .rejected(let retryAt, let notBefore):
            // The delays count from now: the clock may have been set back since the attempt.
            let (retryAt, notBefore) = (bounded(retryAt, after: attempt), bounded(notBefore, after: attempt))
            if isOfThisRequest { try reject(delivery, retryAt: retryAt, notBefore: notBefore) }
            try transitionWebhook(webhook, on: .rejected(at: now, wasTried: try wasTried(present, before: attempt)))
        case .gone:
            guard isOfThisEndpoint else { break }
            try transitionWebhook(webhook, on: .goneAnswered)
        }
        try endLeaseOfIdleWebhook(webhook)
        wake(.deliveries)
        wake(.sessions)
    }

    private func bounded(_ moment: Date?, after attempt: Delivery.Attempt) -> Date? {
        let end = attempt.at.addingTimeInterval(attempt.latencySeconds)
        return moment.map { $0.bounded(by: max(0, $0.timeIntervalSince(end)), from: now) }
    }

    func transitionDelivery(_ delivery: SQLRow, on signal: DeliverySignal) throws {
        let state = try DeliveryRow.state(delivery)
        guard let next = state.transition(on: signal) else { return }
        var retryAt: Date?
        if case .pending(let date) = next { retryAt = date }
        let isAnotherRequest = if case .redeliveryRequested = signal { true } else { false }
        try run(
            """
            UPDATE deliveries SET state = ?1, next_attempt_at = ?2, scheduled_at = NULL, not_before = 0,
                tries = CASE WHEN ?3 = 1 THEN 0 ELSE tries END, requests = requests + ?3
            WHERE id = ?4
            """, [next.name.rawValue, retryAt?.milliseconds, isAnotherRequest, delivery["id"] as String])
        countDeliveries(from: state.name, to: next.name)
        if next.name == .pending { try leaseWebhook(delivery["webhook"]) }
        wake(.deliveries)
    }

    /// After an expedited attempt the delivery keeps its scheduled time. Otherwise an endpoint that accepts all events
    /// except this one would use up the schedule in seconds.
    private func reject(_ delivery: SQLRow, retryAt: Date?, notBefore: Date?) throws {
        let floor = notBefore ?? .distantPast
        guard let scheduled = try expeditedFrom(delivery) else {
            try transitionDelivery(delivery, on: .rejected(retryAt: retryAt))
            return try keep(delivery, from: floor)
        }
        try transitionDelivery(delivery, on: .rejected(retryAt: max(scheduled, floor)))
        try keep(delivery, from: max(now.addingTimeInterval(Self.expediteInterval), floor))
    }

    /// Seconds. A delivery that failed after an expedited attempt is not expedited again for this time.
    private static let expediteInterval: TimeInterval = 300

    private func keep(_ delivery: SQLRow, from moment: Date) throws {
        guard moment > now else { return }
        try run("UPDATE deliveries SET not_before = ? WHERE id = ?", [moment.milliseconds, delivery["id"] as String])
    }

    /// The scheduled time of a delivery that is attempted before that time; nil for all others.
    private func expeditedFrom(_ delivery: SQLRow) throws -> Date? {
        try delivery.optionalTime("scheduled_at").flatMap { $0 > now ? $0 : nil }
    }

    private func isLogged(_ attempt: Delivery.Attempt, of id: DeliveryID) throws -> Bool {
        try row(
            "SELECT 1 FROM delivery_attempts WHERE delivery = ? AND at = ? AND latency_seconds = ?",
            [id.text, attempt.at.milliseconds, attempt.latencySeconds]) != nil
    }

    /// Whether fetchd tried in the last five days, and not only in the first hour of the failures or in the hour before this
    /// attempt.
    private func wasTried(_ webhook: Webhook?, before attempt: Delivery.Attempt) throws -> Bool {
        guard let webhook, let since = webhook.state.failingSince else { return false }
        let span = Webhook.State.timeOfOneOutage
        let first = max(since.addingTimeInterval(span), attempt.at.addingTimeInterval(-Webhook.State.longestFailure))
        let last = attempt.at.addingTimeInterval(-span)
        return try row(
            "SELECT 1 FROM delivery_attempts WHERE webhook = ? AND at > ? AND at < ? LIMIT 1",
            [webhook.key, first.milliseconds, last.milliseconds]) != nil
    }

    private func log(_ attempt: Delivery.Attempt, of id: DeliveryID, to webhook: Int64, isCounted: Bool) throws {
        try run(
            """
            INSERT INTO delivery_attempts
                (delivery, webhook, number, at, status, error, latency_seconds, response, exchange)
            VALUES (?1, ?2, (SELECT count(*) + 1 FROM delivery_attempts WHERE delivery = ?1), ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                id.text, webhook, attempt.at.milliseconds, attempt.status, attempt.error, attempt.latencySeconds,
                attempt.response, try attempt.exchange.map { try RowCoding.text($0) },
            ])
        if isCounted { try run("UPDATE deliveries SET tries = tries + 1 WHERE id = ?", [id.text]) }
    }

    /// The endpoint works again: pending deliveries are attempted at once, or when the endpoint allows it.
    static let expedite = """
        UPDATE deliveries SET scheduled_at = coalesce(scheduled_at, next_attempt_at),
            next_attempt_at = max(?2, not_before)
        WHERE webhook = ?1 AND state = 'pending' AND tries > 0 AND next_attempt_at > ?2 AND next_attempt_at > not_before
        """

    /// The webhook has a new address, or was enabled: pending deliveries are attempted at once, also those that the
    /// endpoint asked to delay.
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
