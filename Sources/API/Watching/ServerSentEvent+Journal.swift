import Downloads
import Formats

/// The journal as a stream.
extension ServerSentEvent {
    static func frame(_ event: Event) -> [UInt8] {
        frame(id: event.id, event: event.type.rawValue, data: event.document)
    }

    /// Instead of 410: what is missing, and that it goes on behind it.
    static func reset(firstAvailable: EventID) -> [UInt8] {
        frame(id: firstAvailable - 1, event: "reset", data: ["first_available": .integer(firstAvailable)])
    }
}
