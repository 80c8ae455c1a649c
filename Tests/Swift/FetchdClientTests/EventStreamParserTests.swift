import Foundation
import Testing

@testable import FetchdClient

@Suite struct EventStreamParserTests {
    private static let stream = """
        retry: 2000
        id: 411
        event: position
        data: {"after":411}

        : a comment

        event:job.progress
        data: {"a":
        data: 1}

        event: no data

        data: plain\r
        \r

        """

    private static let events = [
        ServerSentEvent(type: "position", data: Data(#"{"after":411}"#.utf8)),
        ServerSentEvent(type: "job.progress", data: Data("{\"a\":\n1}".utf8)),
        ServerSentEvent(type: "message", data: Data("plain".utf8)),
    ]

    /// In one piece, byte by byte, and in two pieces at every place.
    @Test func readsPiecesOfAnySize() throws {
        let bytes = Data(Self.stream.utf8)
        func read(_ pieces: [Data]) throws -> [ServerSentEvent] {
            var parser = EventStreamParser()
            return try pieces.flatMap { try parser.read($0) }
        }
        #expect(try read([bytes]) == Self.events)
        #expect(try read(bytes.map { Data([$0]) }) == Self.events)
        for place in 0...bytes.count {
            #expect(try read([bytes.prefix(place), bytes.dropFirst(place)]) == Self.events)
        }
    }

    @Test func refusesLineWithoutEnd() {
        var parser = EventStreamParser()
        #expect(throws: FetchdError.self) {
            for _ in 0...EventStreamParser.longestLine >> 20 { _ = try parser.read(Data(count: 1 << 20)) }
        }
    }
}
