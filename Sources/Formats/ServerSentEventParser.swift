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
        defer { (type, data) = ("", []) }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            lastID: lastID, type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"))
    }
}
