import Formats
import Lists

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

/// Lists of downloads.
extension FuzzTarget {
    /// The pieces in which a list arrives make no difference. The first byte is the format and the size of the pieces.
    static let list = FuzzTarget("list") { bytes in
        let choice = Int(bytes.first ?? 0)
        let format = ListFormat.allCases[choice % ListFormat.allCases.count]
        let size = 1 + choice / ListFormat.allCases.count
        let base = format == .aria2 ? "/srv" : "https://host/"
        var (atOnce, inPieces) = (ListReader(format, base: base), ListReader(format, base: base))
        let list = Array(bytes.dropFirst())
        let expected = atOnce.read(list) + atOnce.finish()
        var entries: [ListEntry] = []
        var rest = list[...]
        while !rest.isEmpty {
            entries += inPieces.read(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        require(entries + inPieces.finish() == expected, "the pieces make a difference")
        for entry in expected {
            require(entry.line >= 1, "the line is \(entry.line)")
            if case .success(let job) = entry.job {
                require(JSON.object(job).bytes.count < 1 << 20, "the job is too large")
            }
        }
    }
}
