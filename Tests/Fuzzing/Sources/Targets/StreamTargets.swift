import Formats
import HTTPSemantics
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

/// Lists of downloads, and lists of digests.
extension FuzzTarget {
    /// A digest that a list gives for a name is in the list, and so is the name. The first byte chooses the name of the list.
    static let checksumList = FuzzTarget("checksum-list") { bytes in
        let names = ["SHA256SUMS", "sums", "a.iso.sha512", "MD5SUMS", "B2SUMS"]
        let list = ChecksumList(Array(bytes.dropFirst()), named: names[Int(bytes.first ?? 0) % names.count])
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        for (wanted, isExact) in [("a.iso", false), ("a.iso", true), ("./x/a.iso", true)] {
            guard case .success(let entry) = list.entry(for: wanted, isExact: isExact) else { continue }
            require(text.contains(entry.checksum.value), "the digest is made up")
            require(entry.name != nil || !isExact, "a digest without a name is that of a named file")
            require(entry.name.map { $0.hasSuffix("a.iso") } ?? true, "the name is \(entry.name ?? "")")
        }
    }

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
