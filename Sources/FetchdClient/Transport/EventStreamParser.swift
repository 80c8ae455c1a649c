import Foundation

/// One block of a stream of server-sent events.
struct ServerSentEvent: Sendable, Equatable {
    var type = "message"
    var data = Data()
}

/// Reads a stream of server-sent events (WHATWG HTML, section 9.2.6) from pieces of any size. The service writes LF.
struct EventStreamParser: Sendable {
    /// The longest line that is accepted. The service's longest events have a few hundred KiB.
    static let longestLine = 16 << 20

    private var line = Data()
    private var type: String?
    private var data: Data?

    /// - Throws: `unexpectedAnswer` after a line without an end.
    mutating func read(_ bytes: Data) throws(FetchdError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0, let event = endOfLine() { events.append(event) }
            line.append(part.element)
        }
        guard line.count <= Self.longestLine else { throw .unexpectedAnswer("a line of the stream is too long") }
        return events
    }

    /// An empty line ends a block.
    private mutating func endOfLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.isEmpty { return endOfBlock() }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : Data()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "event": type = String(decoding: value, as: UTF8.self)
        case "data":
            if data != nil { data?.append(UInt8(ascii: "\n")) }
            data = (data ?? Data()) + value
        default: break
        }
        return nil
    }

    private mutating func endOfBlock() -> ServerSentEvent? {
        defer { (type, data) = (nil, nil) }
        guard let data else { return nil }
        return ServerSentEvent(type: type ?? "message", data: data)
    }
}
