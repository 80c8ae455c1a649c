// Streams with an announced length. A client detects missing bytes.

import HTTPServer
import HTTPTypes
import Testing

@Suite struct KnownLengthTests {
    typealias End = ResponseStream.End

    /// A handler that responds with streams, which the test receives.
    private static func streaming(
        _ length: Int64, _ streams: Shared<[ResponseStream]>, ends: Shared<[End]> = Shared([]),
        bufferLimit: Int = 1 << 20
    ) -> TestHandler {
        TestHandler { _ in
            let stream = ResponseStream(length: length, bufferLimit: bufferLimit) { end in
                ends.change { $0.append(end) }
            }
            streams.change { $0.append(stream) }
            return .now(Response(status: .ok, body: .stream(stream)))
        }
    }

    @Test func announcesTheLengthAndEndsAfterTheLastByte() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(100_000, streams, ends: ends)) { port in
            let client = try RawClient(port)
            for number in 1...2 {
                try client.send(RawClient.request())
                // The head arrives before anything is written. A head that waited for the body would not help a slow
                // client.
                let head = try client.readHead()
                #expect(head["content-length"] == "100000")
                #expect(head["transfer-encoding"] == nil)
                #expect(!head.closes)
                let stream = try #require(streams.value.last)
                for piece in UInt8(0)..<10 {
                    #expect(stream.write([UInt8](repeating: piece, count: 10_000)))
                    #expect(try client.read(count: 10_000) == [UInt8](repeating: piece, count: 10_000))
                }
                #expect(!stream.write([1]))
                expectSoon { ends.value == Array(repeating: .finished, count: number) }
            }
        }
    }

    @Test(arguments: [0, 1, 60_000])
    func earlyEndClosesTheConnection(after count: Int) async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(60_001, streams, ends: ends)) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            #expect(try client.readHead()["content-length"] == "60001")
            let stream = try #require(streams.value.first)
            if count > 0 { #expect(stream.write([UInt8](repeating: 7, count: count))) }
            stream.finish()
            #expect(try client.readUntilClosed() == [UInt8](repeating: 7, count: count))
            expectSoon { ends.value == [.finished] }
        }
    }

    @Test func serverStopClosesTheConnection() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        var options = HTTPServer.Options()
        options.threads = 2
        let server = try HTTPServer(options: options, handler: Self.streaming(10, streams, ends: ends))
        let client = try await onThread {
            let client = try RawClient(server.port)
            try client.send(RawClient.request())
            _ = try client.readHead()
            #expect(streams.value.first?.write([1, 2, 3]) == true)
            #expect(try client.read(count: 3) == [1, 2, 3])
            return Shared(client)
        }
        await server.stop(grace: .seconds(30))
        #expect(ends.value == [.serverStopped])
        try await onThread {
            let rest = try client.value.readUntilClosed()
            #expect(rest.isEmpty)
        }
    }

    @Test func headAndEmptyBodiesKeepTheConnectionOpen() async throws {
        let ends = Shared<[End]>([])
        let handler = TestHandler { request in
            let length: Int64 = request.head.path == "/empty" ? 0 : 5_000_000_000
            let stream = ResponseStream(length: length) { end in ends.change { $0.append(end) } }
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            for _ in 0..<2 {
                let head = try client.exchange("HEAD")
                #expect(head["content-length"] == "5000000000")
                #expect(!head.closes)
                let empty = try client.exchange("GET", "/empty")
                #expect(empty["content-length"] == "0")
                #expect(empty.body.isEmpty)
            }
            expectSoon { ends.value == [.clientGone, .finished, .clientGone, .finished] }
        }
    }

    // MARK: An owner with as much time as its client

    @Test func writerThatWaitsForRoomIsNotDisconnected() async throws {
        let count = 750
        let written = Shared(0)
        let handler = TestHandler { _ in
            let stream = ResponseStream(length: Int64(count) * 40_000, bufferLimit: 100_000)
            Task {
                while await stream.room(for: 40_000) {
                    #expect(stream.write([UInt8](repeating: UInt8(written.value % 251), count: 40_000)))
                    written.change { $0 += 1 }
                }
            }
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler) { port in
            let client = try RawClient(port, receiveBuffer: 4_096)
            try client.send(RawClient.request())
            _ = try client.readHead()
            expectSoon { written.value > 2 }
            // The buffers of the kernel take some megabytes.
            #expect(written.value < count)
            for number in 0..<count {
                let piece = try client.read(count: 40_000)
                #expect(piece == [UInt8](repeating: UInt8(number % 251), count: 40_000))
            }
        }
    }

    @Test func roomReturnsFalseAtTheEnd() async throws {
        let outcomes = Shared<[Bool]>([])
        let handler = TestHandler { _ in
            let stream = ResponseStream(bufferLimit: 50_000)
            Task {
                while await stream.room(for: 50_000) { stream.write([UInt8](repeating: 1, count: 50_000)) }
                let isAnswered = await stream.room(for: 1)
                outcomes.change { $0.append(isAnswered) }
            }
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler) { port in
            for _ in 0..<10 {
                let client = try RawClient(port, receiveBuffer: 4_096)
                try client.send(RawClient.request())
                _ = try client.readHead()
            }
            expectSoon { outcomes.value == Array(repeating: false, count: 10) }
        }
    }
}
