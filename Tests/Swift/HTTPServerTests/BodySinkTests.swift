import Base
import HTTPServer
import Testing

/// Bodies that a sink takes piece by piece.
@Suite struct BodySinkTests {
    /// Takes bytes up to a limit, and then waits for `makeRoom`.
    private final class Sink: BodySink {
        private struct State {
            var bytes: [UInt8] = []
            var room: Int
            var waiting: [@Sendable () -> Void] = []
            var pauses = 0
            var isAbandoned = false
        }

        private let state: Locked<State>

        init(room: Int = .max) { state = Locked(State(room: room)) }

        func take(_ piece: UnsafeRawBufferPointer, onRoom: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                state.bytes += piece
                state.room -= piece.count
                guard state.room <= 0 else { return true }
                state.pauses += 1
                state.waiting.append(onRoom)
                return false
            }
        }

        func abandon() { state.withLock { $0.isAbandoned = true } }

        func makeRoom(_ bytes: Int) {
            let waiting = state.withLock { state in
                state.room = bytes
                defer { state.waiting = [] }
                return state.waiting
            }
            for onRoom in waiting { onRoom() }
        }

        var bytes: [UInt8] { state.withLock(\.bytes) }
        var pauses: Int { state.withLock(\.pauses) }
        var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }
        var isAbandoned: Bool { state.withLock(\.isAbandoned) }
    }

    private func handler(_ sink: Sink, limit: Int = 1 << 26) -> TestHandler {
        var handler = TestHandler { request in .now(Response(text: "\(request.body.count)")) }
        handler.admitting = { $0.path == "/list" ? .accept(maxBodyBytes: limit, sink: sink) : .accept() }
        return handler
    }

    private static let body = String(repeating: "0123456789abcdef", count: 1 << 16)

    @Test(arguments: [false, true]) func takesABodyInPlaceOfMemory(_ isChunked: Bool) async throws {
        let sink = Sink()
        try await withServer(handler(sink)) {
            $0.maxBytesOfBodies = 1 << 16
        } _: { port in
            let client = try RawClient(port)
            for _ in 0..<2 {
                if isChunked {
                    try client.send("POST /list HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
                    try client.send(String(Self.body.utf8.count, radix: 16) + "\r\n" + Self.body + "\r\n0\r\n\r\n")
                    #expect(try client.readResponse(toHead: false).text == "0")
                    return
                }
                #expect(try client.exchange("POST", "/list", body: Self.body).text == "0")
            }
        }
        #expect(sink.bytes == Array(String(repeating: Self.body, count: isChunked ? 1 : 2).utf8))
        #expect(!sink.isAbandoned)
    }

    /// The sink makes room on another thread, sometimes before the connection is suspended.
    @Test func readsNothingWhileTheSinkHasNoRoom() async throws {
        let sink = Sink(room: 1)
        let isDone = Locked(false)
        let helper = Task {
            while !isDone.withLock(\.self) {
                if sink.isWaiting { sink.makeRoom(10_000) }
                await Task.yield()
            }
        }
        try await withServer(handler(sink)) { port in
            let client = try RawClient(port)
            #expect(try client.exchange("POST", "/list", body: Self.body).text == "0")
            #expect(try client.exchange("POST", "/other", body: "four").text == "4")
        }
        isDone.withLock { $0 = true }
        await helper.value
        #expect(sink.bytes == Array(Self.body.utf8))
        #expect(sink.pauses > 10)
    }

    @Test func answersOthersWhileASinkWaits() async throws {
        let sink = Sink(room: 1)
        try await withServer(handler(sink)) {
            $0.threads = 1
        } _: { port in
            let (slow, other) = (try RawClient(port), try RawClient(port))
            try slow.send("POST /list HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nabcd")
            while !sink.isWaiting {}
            #expect(try other.exchange("POST", "/other", body: "four").text == "4")
            sink.makeRoom(100)
            try slow.send("efgh")
            #expect(try slow.readResponse(toHead: false).text == "0")
        }
        #expect(sink.bytes == Array("abcdefgh".utf8))
    }

    @Test func abandonsABodyThatIsTooLargeOrCut() async throws {
        let sinks = [Sink(), Sink(), Sink()]
        try await withServer(handler(sinks[0], limit: 10)) { port in
            let client = try RawClient(port)
            #expect(try client.exchange("POST", "/list", body: Self.body).status == 413)
        }
        try await withServer(handler(sinks[1], limit: 10)) { port in
            let client = try RawClient(port)
            try client.send("POST /list HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            try client.send("20\r\n" + String(repeating: "a", count: 32) + "\r\n0\r\n\r\n")
            #expect(try client.readResponse(toHead: false).status == 413)
        }
        try await withServer(handler(sinks[2])) { port in
            let client = try RawClient(port)
            try client.send("POST /list HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nabcd")
            while sinks[2].bytes.isEmpty {}
        }
        for sink in sinks { #expect(sink.isAbandoned) }
    }

    /// A stop ends a pause that the sink does not end.
    @Test func stopsWhileASinkHasNoRoom() async throws {
        let sink = Sink(room: 1)
        let server = try HTTPServer(options: HTTPServer.Options(), handler: handler(sink))
        let client = try RawClient(server.port)
        try client.send("POST /list HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nabcd")
        while !sink.isWaiting { await Task.yield() }
        await server.stop(grace: .milliseconds(10))
        #expect(sink.isAbandoned)
    }

    @Test func closesAConnectionWhoseSinkWaitsTooLong() async throws {
        let sink = Sink(room: 1)
        try await withServer(handler(sink)) {
            $0.waitLimit = .milliseconds(50)
        } _: { port in
            let client = try RawClient(port)
            try client.send("POST /list HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nabcd")
            #expect(throws: (any Error).self) { try client.readResponse(toHead: false) }
        }
        #expect(sink.isAbandoned)
    }
}
