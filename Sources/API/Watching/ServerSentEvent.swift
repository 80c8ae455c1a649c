import Downloads
import Formats

/// One block of an event stream (WHATWG HTML, section 9.2.6, "Interpreting an event stream").
enum ServerSentEvent {
    /// JSON is written without line breaks, so that one line of data is enough.
    static func frame(id: EventID? = nil, event: String, data: JSON) -> [UInt8] {
        var bytes: [UInt8] = []
        if let id { bytes += "id: \(id)\n".utf8 }
        bytes += "event: \(event)\ndata: ".utf8
        bytes += data.bytes
        bytes += "\n\n".utf8
        return bytes
    }

    static func frame(_ event: Event) -> [UInt8] {
        frame(id: event.id, event: event.type.rawValue, data: event.document)
    }

    /// The beginning. A block without data is no event, but its `id` is remembered: who loses the connection before the
    /// first event goes on from here all the same.
    ///
    /// - Parameter retry: milliseconds after which a client that lost the connection should come again.
    static func opening(at position: EventID, retry: Int) -> [UInt8] {
        Array("retry: \(retry)\nid: \(position)\n\n".utf8)
    }

    /// A comment, and how far the journal was looked through: of what a filter left out none is ever read again.
    static func heartbeat(at position: EventID) -> [UInt8] { Array(":\nid: \(position)\n\n".utf8) }

    /// Instead of 410: what is missing, and that it goes on behind it.
    static func reset(firstAvailable: EventID) -> [UInt8] {
        frame(id: firstAvailable - 1, event: "reset", data: ["first_available": .integer(firstAvailable)])
    }
}
