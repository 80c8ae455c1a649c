/// The two shapes of an event: as the journal is read, and as a webhook is posted.
extension Event {
    public var document: JSON {
        [
            "id": .integer(id), "type": .string(type.rawValue), "time": .time(time), "session": .string(session.text),
            "job": .optional(job?.text), "data": .object(data),
        ]
    }

    /// The body of Standard Webhooks 1.0.0. It depends on nothing but the event, so that every attempt posts the same
    /// bytes.
    public var posted: JSON {
        let about: JSONObject = [
            "event": .integer(id), "session": .string(session.text), "job": .optional(job?.text),
        ]
        return [
            "type": .string(type.rawValue), "timestamp": .time(time), "data": .object(about.merging(data)),
        ]
    }
}
