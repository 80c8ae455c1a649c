import Formats

/// Streams of events.
extension FuzzTarget {
    /// The pieces in which a stream arrives make no difference. The first byte is the size of the pieces.
    static let serverSentEvents = FuzzTarget("server-sent-events") { bytes in
        let size = max(1, Int(bytes.first ?? 1) % 16)
        let stream = bytes.dropFirst()
        var (atOnce, inPieces) = (ServerSentEventParser(), ServerSentEventParser())
        let expected = atOnce.receive(stream)
        var events: [ServerSentEvent] = []
        var rest = stream
        while !rest.isEmpty {
            events += inPieces.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        require(events == expected, "the pieces make a difference")
        require(inPieces.lastID == atOnce.lastID, "the last ID differs")
        for event in events {
            require(!event.type.utf8.contains { $0 == 0x0A || $0 == 0x0D }, "a line break in the type")
            require(!event.type.isEmpty, "no type")
            // A byte that is not UTF-8 becomes a character of three bytes.
            require(event.data.utf8.count <= 3 * stream.count, "the data is longer")
        }
    }
}
