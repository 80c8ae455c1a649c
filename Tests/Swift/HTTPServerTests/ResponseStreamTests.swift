// Streams, and clients that read slowly or disconnect.

import Glibc
import HTTPServer
import HTTPTypes
import Testing

@Suite struct ResponseStreamTests {
    typealias End = ResponseStream.End

    /// A handler that responds with streams, which the test receives.
    private static func streaming(
        _ streams: Shared<[ResponseStream]>, ends: Shared<[End]> = Shared([]), bufferLimit: Int = 1 << 20
    ) -> TestHandler {
        TestHandler { _ in
            let stream = ResponseStream(bufferLimit: bufferLimit) { end in ends.change { $0.append(end) } }
            streams.change { $0.append(stream) }
            return .now(Response(status: .ok, headers: [.contentType: "text/event-stream"], body: .stream(stream)))
        }
    }

    @Test func sendsWritesInOrder() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(streams, ends: ends)) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            #expect(try client.readHead()["transfer-encoding"] == "chunked")
            let stream = try #require(streams.value.first)
            for number in 0..<200 {
                let event = Array("event \(number)\n".utf8)
                #expect(stream.write(event))
                // The client reads each word as soon as it is written. The connection is suspended in between.
                #expect(try client.readChunk() == event)
            }
            for number in 0..<10_000 { #expect(stream.write(Array("\(number),".utf8))) }
            stream.finish()
            #expect(!stream.write([1]))
            var rest: [UInt8] = []
            while let chunk = try client.readChunk() { rest += chunk }
            #expect(rest == Array((0..<10_000).map { "\($0)," }.joined().utf8))
            expectSoon { ends.value == [.finished] }
            // The connection can be reused.
            try client.send(RawClient.request())
            #expect(try client.readHead().status == 200)
        }
    }

    @Test func sendsBytesWrittenBeforeTheResponse() async throws {
        let handler = TestHandler { _ in
            let stream = ResponseStream()
            stream.write(Array("early".utf8))
            stream.finish()
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            for _ in 0..<3 { #expect(try client.exchange().text == "early") }
            let old = try RawClient(port)
            try old.send("GET / HTTP/1.0\r\n\r\n")
            #expect(try old.readResponse().text == "early")
        }
    }

    @Test func detectsDisconnectedClients() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(streams, ends: ends)) { port in
            for _ in 0..<20 {
                let client = try RawClient(port)
                try client.send(RawClient.request())
                _ = try client.readHead()
            }
            #expect(streams.value.count == 20)
            expectSoon { streams.value.allSatisfy { !$0.write([1]) } }
            expectSoon { ends.value == Array(repeating: .clientGone, count: 20) }
        }
    }

    @Test func disconnectsSlowClientsAtTheBufferLimit() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(streams, ends: ends, bufferLimit: 100_000)) { port in
            let client = try RawClient(port, receiveBuffer: 4_096)
            try client.send(RawClient.request())
            _ = try client.readHead()
            let stream = try #require(streams.value.first)
            let piece = [UInt8](repeating: 1, count: 50_000)
            let pieces = Shared(0)
            expectSoon {
                pieces.change { $0 += 1 }
                return !stream.write(piece)
            }
            // The kernel alone would buffer some megabytes.
            #expect(pieces.value * piece.count < 1 << 20)
            expectSoon { ends.value == [.clientTooSlow] }
            let sent = try client.readUntilClosed()
            #expect(!sent.isEmpty)
            #expect(!String(decoding: sent.suffix(5), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        }
    }

    /// The client reads for more than twice the idle timeout, and needs longer than the timeout for each megabyte.
    @Test func doesNotTimeOutSlowReaders() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(streams, ends: ends), configure: { $0.idleTimeout = .seconds(4) }) { port in
            let client = try RawClient(port, receiveBuffer: 16_384)
            try client.send(RawClient.request())
            _ = try client.readHead()
            let stream = try #require(streams.value.first)
            Task {
                let piece = [UInt8](repeating: 1, count: 10_000)
                while await stream.room(for: piece.count), stream.write(piece) {}
            }
            for _ in 0..<60 {
                _ = try client.read(count: 15_000)
                usleep(150_000)
            }
            #expect(ends.value.isEmpty)
            stream.finish()
        }
    }

    @Test func disconnectsAfterAWriteLargerThanTheBuffer() async throws {
        let streams = Shared<[ResponseStream]>([])
        try await withServer(Self.streaming(streams, bufferLimit: 100)) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            _ = try client.readHead()
            #expect(streams.value.first?.write([UInt8](repeating: 1, count: 101)) == false)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func endsStreamsThatAreNotRead() async throws {
        let streams = Shared<[ResponseStream]>([])
        let ends = Shared<[End]>([])
        try await withServer(Self.streaming(streams, ends: ends)) { port in
            for _ in 0..<2 {
                let client = try RawClient(port)
                let response = try client.exchange("HEAD")
                #expect(response.status == 200)
                #expect(response["content-length"] == nil)
                #expect(try client.readUntilClosed().isEmpty)
            }
            expectSoon { ends.value == [.clientGone, .clientGone] }
        }
    }

    @Test func servesOnlyOneResponse() async throws {
        let shared = ResponseStream()
        let handler = TestHandler { _ in .now(Response(status: .ok, body: .stream(shared))) }
        try await withServer(handler) { port in
            let first = try RawClient(port)
            try first.send(RawClient.request())
            _ = try first.readHead()
            let second = try RawClient(port)
            try second.send(RawClient.request())
            #expect(try second.readUntilClosed().isEmpty)
            #expect(shared.write([1]))
            shared.finish()
            #expect(try first.readChunk() == [1])
        }
    }

    @Test func servesManyStreamsAtOnce() async throws {
        let streams = Shared<[ResponseStream]>([])
        try await withServer(Self.streaming(streams)) { port in
            let clients = try (0..<100).map { _ in try RawClient(port) }
            for client in clients {
                try client.send(RawClient.request())
                _ = try client.readHead()
            }
            let open = streams.value
            for number in 0..<100 { for stream in open { #expect(stream.write(Array("\(number) ".utf8))) } }
            for stream in open { stream.finish() }
            let expected = Array((0..<100).map { "\($0) " }.joined().utf8)
            for client in clients {
                var body: [UInt8] = []
                while let chunk = try client.readChunk() { body += chunk }
                #expect(body == expected)
            }
        }
    }
}
