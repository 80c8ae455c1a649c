import Testing

@testable import Formats

/// The parser, with the examples of WHATWG HTML, section 9.2.6, and with the service's own events.
@Suite struct ServerSentEventTests {
    private static let stream = """
        retry: 2000
        event: position
        id: 411
        data: {"after":411}

        id: 412
        event: job.paused
        data: {"id":412}

        : nothing happens
        event: job.progress
        data: {"job":"job_1"}

        :
        id: 500
        event: position
        data: {"after":500}


        """

    private static let events = [
        ServerSentEvent(lastID: "411", type: "position", data: #"{"after":411}"#),
        ServerSentEvent(lastID: "412", type: "job.paused", data: #"{"id":412}"#),
        ServerSentEvent(lastID: "412", type: "job.progress", data: #"{"job":"job_1"}"#),
        ServerSentEvent(lastID: "500", type: "position", data: #"{"after":500}"#),
    ]

    @Test(arguments: ["\n", "\r\n", "\r"])
    func parsesStreamWithAnyLineEnding(_ end: String) {
        var parser = ServerSentEventParser()
        let events = parser.receive(Self.stream.replacing("\n", with: end).utf8)
        #expect(events == Self.events)
        #expect(parser.lastID == "500")
    }

    @Test(arguments: [1, 2, 3, 7]) func parsesStreamInPiecesOfAnySize(_ size: Int) {
        var parser = ServerSentEventParser()
        let bytes = Array(Self.stream.replacing("\n", with: "\r\n").utf8)
        let events = stride(from: 0, to: bytes.count, by: size).flatMap { start in
            parser.receive(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(events == Self.events)
    }

    @Test func joinsLinesOfData() {
        var parser = ServerSentEventParser()
        let events = parser.receive("\u{FEFF}data: one\ndata:two\ndata:  three\ndata\n\n".utf8)
        #expect(events == [ServerSentEvent(lastID: nil, type: "message", data: "one\ntwo\n three\n")])
    }

    @Test func emitsEventOnlyWhenBlockIsComplete() {
        var parser = ServerSentEventParser()
        #expect(parser.receive("event: job.failed\ndata: {}\n".utf8).isEmpty)
        #expect(parser.receive("\n".utf8) == [ServerSentEvent(lastID: nil, type: "job.failed", data: "{}")])
        // The type applies to its own block only, and an identifier with a NUL is ignored.
        #expect(
            parser.receive("id: a\u{0}b\ndata: x\n\n".utf8) == [
                ServerSentEvent(lastID: nil, type: "message", data: "x")
            ])
    }

    @Test func parsesWrittenEvents() {
        var parser = ServerSentEventParser()
        let blocks =
            ServerSentEvent.position(411, retry: 2000)
            + ServerSentEvent.frame(id: 412, event: "job.paused", data: ["id": 412]) + ServerSentEvent.heartbeat
            + ServerSentEvent.frame(event: "job.progress", data: ["job": "job_1"]) + ServerSentEvent.position(500)
        // Every empty line ends an event: httpx-sse and others report an empty line after no data as a message.
        #expect(String(decoding: blocks, as: UTF8.self).components(separatedBy: "\n\n").count == 5)
        #expect(parser.receive(blocks) == Self.events)
        #expect(parser.lastID == "500")
    }
}
