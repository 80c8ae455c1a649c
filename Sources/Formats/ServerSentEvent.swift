/// One event of a stream (WHATWG HTML, section 9.2.5, "Parsing an event stream").
public struct ServerSentEvent: Sendable, Equatable {
    /// The last ID of the stream, from this block or an earlier one.
    public var lastID: String?
    public var type: String
    public var data: String
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

/// Parses the bytes of a stream, in pieces of any size, into events.
public struct ServerSentEventParser: Sendable {
    private var line: [UInt8] = []
    private var endsWithCarriageReturn = false
    private var isAtStart = true
    private var type = ""
    private var data: [String] = []
    /// Blocks without data, which are not events, also change it: a heartbeat reports the position that the server has
    /// reached in the journal.
    public private(set) var lastID: String?

    public init() {}

    public mutating func receive(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where endsWithCarriageReturn:
                endsWithCarriageReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                endsWithCarriageReturn = byte == UInt8(ascii: "\r")
                if let event = endLine() { events.append(event) }
            default:
                endsWithCarriageReturn = false
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        if isAtStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isAtStart = false
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return endBlock() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        take(field: String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        return nil
    }

    /// A line that begins with a colon is a comment. It is parsed as a field with an empty name, and ignored like other
    /// unknown fields.
    private mutating func take(field: String, _ value: String) {
        switch field {
        case "event": type = value
        case "data": data.append(value)
        case "id" where !value.utf8.contains(0): lastID = value
        default: break
        }
    }

    private mutating func endBlock() -> ServerSentEvent? {
        defer {
            type = ""
            data = []
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            lastID: lastID, type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"))
    }
}
