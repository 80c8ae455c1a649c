import Formats

/// The two shapes of an event: as the journal is read, and as a webhook is posted.
extension Event {
    public var document: JSON {
        [
            "id": .integer(id), "type": .string(type.rawValue), "time": .time(time), "session": .string(session.text),
            "job": .optional(job?.text), "data": .text(data),
        ]
    }

    /// The body of Standard Webhooks 1.0.0. It depends on nothing but the event, so that every attempt posts the same
    /// bytes.
    public var posted: JSON {
        let about: JSON = ["event": .integer(id), "session": .string(session.text), "job": .optional(job?.text)]
        return [
            "type": .string(type.rawValue), "timestamp": .time(time), "data": .text(joined(about.written, data)),
        ]
    }

    /// Two objects, as text, made one: whatever is in the journal is posted byte for byte.
    private func joined(_ first: String, _ second: String) -> String {
        second == "{}" ? first : first.dropLast() + "," + second.dropFirst()
    }
}
