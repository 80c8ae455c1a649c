import ArgumentParser

/// Formats an event as one line.
enum EventDescription {
    static func line(_ event: EventDocument) -> String {
        let about = [event.session, event.job].compactMap(\.self).joined(separator: " ")
        return ["\(event.id)", DisplayFormat.time(event.time), event.type, about, details(event.data)]
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }

    static func document(_ text: JSONText, _ service: RemoteService) throws(ClientError) -> EventDocument {
        guard let event = try? text.decoded(EventDocument.self) else {
            throw .strange(service.address, "its event stream has an entry that is not an event")
        }
        return event
    }

    /// The message for a stream that cannot start at the requested event.
    static func jump(from position: Int64, to next: Int64) -> String {
        position < next
            ? "Events up to \(next) were removed from the journal. The stream continues after event \(next)."
            : "Event \(position) does not exist yet. The stream continues after event \(next), the last one."
    }

    private static func details(_ data: EventDocument.Details) -> String {
        if let job = data.snapshot { return job.state == "cancelled" ? job.name : JobDescription.line(job) }
        if let outcome = data.outcome {
            let counts = (data.counts ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
            return "batch \(data.batch ?? 0) \(outcome): "
                + counts.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        if let reason = data.reason {
            return reason + (data.retryAt.map { ", again at \(DisplayFormat.time($0))" } ?? "")
        }
        if let why = data.why { return why }
        return data.offset.map { "from \(DisplayFormat.bytes($0))" } ?? ""
    }
}
