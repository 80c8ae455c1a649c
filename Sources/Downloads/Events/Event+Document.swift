import Formats

/// The two forms of an event: as clients read it from the journal, and as fetchd posts it to a webhook.
extension Event {
    public var document: JSON {
        [
            "id": .integer(id), "type": .string(type.rawValue), "time": .time(time), "session": .string(session.text),
            "job": .optional(job?.text), "data": .text(data),
        ]
    }

    /// The body of a webhook request (Standard Webhooks 1.0.0). It depends only on the event, so every attempt posts
    /// the same bytes.
    public var posted: JSON {
        let about: JSON = ["event": .integer(id), "session": .string(session.text), "job": .optional(job?.text)]
        return [
            "type": .string(type.rawValue), "timestamp": .time(time), "data": .text(joined(about.written, data)),
        ]
    }

    /// Merges two JSON objects as text, so that the data in the journal is posted byte for byte.
    private func joined(_ first: String, _ second: String) -> String {
        second == "{}" ? first : first.dropLast() + "," + second.dropFirst()
    }
}
