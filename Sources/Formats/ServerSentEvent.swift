/// One event of a stream (WHATWG HTML, section 9.2.5, "Parsing an event stream").
public struct ServerSentEvent: Sendable, Equatable {
    /// The last ID of the stream, from this block or an earlier one.
    public var lastID: String?
    public var type: String
    public var data: String

    public init(lastID: String?, type: String, data: String) {
        self.lastID = lastID
        self.type = type
        self.data = data
    }
}

/// The blocks that a stream is written in (section 9.2.6, "Interpreting an event stream").
extension ServerSentEvent {
    /// An event. JSON is written without line breaks, so one line of data is enough.
    public static func frame(id: Int64? = nil, event: String, data: JSON) -> [UInt8] {
        var bytes: [UInt8] = []
        if let id { bytes += "id: \(id)\n".utf8 }
        bytes += "event: \(event)\ndata: ".utf8
        bytes += data.bytes
        bytes += "\n\n".utf8
        return bytes
    }

    /// The beginning of a stream. A block without data is not an event, but clients store its `id`. So a client that
    /// loses the connection before the first event continues from this position.
    ///
    /// - Parameter retry: milliseconds after which a client that lost the connection should reconnect.
    public static func opening(at position: Int64, retry: Int) -> [UInt8] {
        Array("retry: \(retry)\nid: \(position)\n\n".utf8)
    }

    /// A comment, with the position in the journal that the server has reached. After a reconnection, the server need
    /// not read again the events that a filter left out.
    public static func heartbeat(at position: Int64) -> [UInt8] { Array(":\nid: \(position)\n\n".utf8) }
}
