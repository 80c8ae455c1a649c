// Slow clients, which the server closes while it serves others.

import Glibc
import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct DeadlineTests {
    /// Two seconds, so that clients that hurry meet them even on a busy machine.
    private static func impatient(_ options: inout HTTPServer.Options) {
        options.headDeadline = .seconds(2)
        options.bodyGrace = .seconds(2)
        options.idleTimeout = .seconds(2)
    }

    /// Sends bytes one by one until the server closes the connection. Other clients must be served meanwhile.
    private static func dribble(_ bytes: String, to client: RawClient, at port: UInt16) {
        for byte in bytes.utf8 {
            do { try client.send([byte]) } catch { return }
            usleep(20_000)
            expectSoon { (try? RawClient(port).exchange().status) == 200 }
        }
        Issue.record("never cut off")
    }

    private static let endless = "X: " + String(repeating: "x", count: 400)

    @Test(arguments: [
        "", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5000\r\n",
    ])
    func closesSlowRequestsAtTheDeadline(_ beginning: String) async throws {
        try await withServer(.echo, configure: Self.impatient) { port in
            let start = ContinuousClock.now
            let client = try RawClient(port)
            try client.send(beginning)
            Self.dribble(Self.endless, to: client, at: port)
            let duration = ContinuousClock.now - start
            #expect(duration > .milliseconds(1_500) && duration < .seconds(60))
        }
    }

    @Test func closesSlowRequestsOnReusedConnections() async throws {
        try await withServer(.echo, configure: Self.impatient) { port in
            let start = ContinuousClock.now
            let client = try RawClient(port)
            #expect(try client.exchange().status == 200)
            try client.send("GET / HTTP/1.1\r\n")
            Self.dribble(Self.endless, to: client, at: port)
            let duration = ContinuousClock.now - start
            #expect(duration > .milliseconds(1_500) && duration < .seconds(60))
        }
    }

    /// The client needs longer than the grace, and sends more than the minimum.
    @Test func waitsForBodiesThatArriveSteadily() async throws {
        try await withServer(.echo) {
            ($0.bodyGrace, $0.bodyBytesPerSecond) = (.seconds(2), 500)
        } _: { port in
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/", fields: ["Content-Length: 6000"]))
            for _ in 0..<60 {
                try client.send([UInt8](repeating: 65, count: 100))
                usleep(50_000)
            }
            #expect(try client.readResponse().body.count == 6_000 + "POST / ".utf8.count)
        }
    }

    @Test func givesABodyTimeForItsBytes() {
        var options = HTTPServer.Options()
        (options.bodyGrace, options.bodyBytesPerSecond) = (.seconds(20), 1_000)
        options.bodyDeadline = .seconds(100)
        let times = [0, 999, 1_000, 80_000, 80_001, Int(Int32.max)].map { options.bodyTime(received: $0) }
        #expect(
            times == [.seconds(20), .milliseconds(20_999), .seconds(21), .seconds(100), .seconds(100), .seconds(100)])
    }

    @Test func closesIdleConnections() async throws {
        try await withServer(.echo, configure: Self.impatient) { port in
            let silent = try RawClient(port)
            let used = try RawClient(port)
            #expect(try used.exchange().status == 200)
            #expect(try silent.readUntilClosed().isEmpty)
            #expect(try used.readUntilClosed().isEmpty)
        }
    }

    /// The server is busy while the deadline passes. The rest of the request waits in the kernel, in time.
    @Test(arguments: [
        ("", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ("GET / HTTP/1.1\r\n", "Host: a\r\n\r\n"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n", "body"),
    ])
    func servesRequestsThatItCouldNotReadInTime(_ beginning: String, _ rest: String) async throws {
        let isBlocked = Shared(false)
        let handler = TestHandler { request in
            if request.head.path == "/block" {
                isBlocked.change { $0 = true }
                sleep(8)
            }
            return .now(Response(text: "served"))
        }
        try await withServer(handler) {
            ($0.threads, $0.headDeadline, $0.bodyGrace) = (1, .seconds(5), .seconds(5))
        } _: { port in
            let client = try RawClient(port)
            try client.send(beginning)
            let blocking = try RawClient(port)
            try blocking.send(RawClient.request("GET", "/block"))
            expectSoon { isBlocked.value }
            try client.send(rest)
            #expect(try client.readResponse().text == "served")
        }
    }

    /// A client that never stops sending empty lines always has bytes that the server has not read.
    @Test func closesFloodsWithoutARequest() async throws {
        try await withServer(.echo, configure: Self.impatient) { port in
            let client = try RawClient(port)
            let lines = String(repeating: "\r\n", count: 10_000)
            let end = ContinuousClock.now + .seconds(60)
            while .now < end { do { try client.send(lines) } catch { return } }
            Issue.record("never cut off")
        }
    }

    /// The deadline applies only to the request, not to a long response or to the whole connection.
    @Test func doesNotCloseLongResponses() async throws {
        let handler = TestHandler { _ in
            .eventually {
                try? await Task.sleep(for: .seconds(3))
                return Response(text: "patience")
            }
        }
        try await withServer(handler, configure: Self.impatient) { port in
            let client = try RawClient(port)
            #expect(try client.exchange("POST", "/", body: "b").text == "patience")
        }
    }
}
