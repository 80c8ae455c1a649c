import Downloads
import Formats
import Storage

/// Webhooks and deliveries in the form of the API contract.
extension Webhook {
    /// - Parameter showsSecret: true only in the response that creates or replaces the secret.
    func document(_ statistics: WebhookStatistics, showsSecret: Bool = false) -> JSON {
        var document: JSONObject = [
            "name": .string(name.text), "session": .string(session.text), "url": .string(url),
            "events": .strings(events.map(\.text)), "header_names": .strings(headers.map(\.name)), "tls": tls.document,
            "reach": .string(reach.rawValue), "state": .string(state.name.rawValue),
            "disabled_reason": .optional(state.reason), "created_at": .time(createdAt),
            "statistics": statistics.document,
        ]
        if showsSecret { document["secret"] = .string(secret.text) }
        return .object(document)
    }
}

extension WebhookStatistics {
    fileprivate var document: JSON {
        [
            "attempts": .count(attempts), "accepted": .count(accepted), "success_rate": .optional(successRate),
            "median_latency_seconds": .optional(medianLatency), "p95_latency_seconds": .optional(latency95),
            "pending": .count(pending), "oldest_pending_at": .optional(oldestPendingAt),
        ]
    }
}

extension Delivery {
    var document: JSON {
        [
            "id": .string(id.text), "webhook": .string(webhook.text), "session": .string(session.text),
            "event": .integer(event), "type": .string(type.rawValue), "state": .string(state.name.rawValue),
            "attempts": .array(attempts.map(\.document)), "next_attempt_at": .optional(nextAttemptAt),
            "blocked_by": .optional(blockedBy?.text),
        ]
    }
}

extension Delivery.Attempt {
    var document: JSON {
        [
            "at": .time(at), "status": .optional(status), "error": .optional(error),
            "latency_seconds": .number(latencySeconds), "response": .optional(response),
        ]
    }
}
