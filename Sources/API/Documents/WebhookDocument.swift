import Downloads
import Formats

/// Webhooks and deliveries in the form of the API contract.
extension Webhook {
    /// - Parameter showsSecret: true only in the response that creates or replaces the secret.
    func document(showsSecret: Bool = false) -> JSON {
        var document: JSONObject = [
            "name": .string(name.text), "session": .string(session.text), "url": .string(url),
            "events": .strings(events.map(\.text)), "state": .string(state.name.rawValue),
            "disabled_reason": .optional(state.reason), "created_at": .time(createdAt),
        ]
        if showsSecret { document["secret"] = .string(secret.text) }
        return .object(document)
    }
}

extension Delivery {
    var document: JSON {
        let next: JSON = if case .pending(let next) = state { .time(next) } else { .null }
        return [
            "id": .string(id.text), "webhook": .string(webhook.text), "session": .string(session.text),
            "event": .integer(event), "type": .string(type.rawValue), "state": .string(state.name.rawValue),
            "attempts": .array(attempts.map(\.document)), "next_attempt_at": next,
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
