import Downloads
import Formats

/// Journal events as server-sent events.
extension ServerSentEvent {
    static func frame(_ event: Event) -> [UInt8] {
        frame(id: event.id, event: event.type.rawValue, data: event.document)
    }

    /// Replaces status 410 in a stream: events were pruned, and the stream continues with `firstAvailable`.
    static func reset(firstAvailable: EventID) -> [UInt8] {
        frame(id: firstAvailable - 1, event: "reset", data: ["first_available": .integer(firstAvailable)])
    }
}
