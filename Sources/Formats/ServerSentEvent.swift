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

    /// The position up to which the server has sent the journal. The stream begins with it, so a client that loses the
    /// connection before the first event continues from here. Later, it saves a reconnecting client the events that its
    /// filter left out.
    ///
    /// It has a name and data, because some clients report a block without data as an empty message.
    ///
    /// - Parameter retry: milliseconds after which a client that lost the connection should reconnect.
    public static func position(_ position: Int64, retry: Int? = nil) -> [UInt8] {
        let retry = retry.map { "retry: \($0)\n" } ?? ""
        return Array(retry.utf8) + frame(id: position, event: "position", data: ["after": .integer(position)])
    }

    /// A comment, without an empty line after it: some clients report an empty line as an empty message.
    public static let heartbeat = Array(":\n".utf8)
}
