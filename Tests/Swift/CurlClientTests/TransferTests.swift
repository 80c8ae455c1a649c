import CurlClient
import TestKit
import Testing

/// Successful transfers.
@Suite struct TransferTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    @Test func getDeliversHeadAndBody() async throws {
        let bytes = Content.random(seed: 1, count: 3_000_000)
        origin.serve("/file", .file(bytes, etag: "\"v1\""))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(result.bytesReceived == 3_000_000)
        #expect(recorder.body == bytes)
        #expect(recorder.head?.status == 200)
        #expect(recorder.head?.value(of: "etag") == "\"v1\"")
        #expect(recorder.head?.contentLength == 3_000_000)
        #expect(recorder.head?.remoteAddress == "127.0.0.1")
        #expect(recorder.state.current.violations.isEmpty)
    }

    @Test func sendsTheExpectedRequest() async throws {
        origin.serve("/file", .file([1]))
        _ = try await client.run(
            TransferRequest(
                url: origin.url("/file?q=1"), headers: [("X-One", "1"), ("X-Empty", "")], userAgent: "fetchd/1"))
        let request = try #require(origin.requests.first)
        #expect(request.method == "GET")
        #expect(request.target == "/file?q=1")
        #expect(request.header("X-One") == "1")
        #expect(request.header("X-Empty") == "")
        #expect(request.header("User-Agent") == "fetchd/1")
        #expect(request.headers("Accept-Encoding") == ["identity"])
        #expect(request.header("Range") == nil)
    }

    @Test func keepsAcceptEncodingOfTheCaller() async throws {
        origin.serve("/file", .file([1]))
        _ = try await client.run(
            TransferRequest(url: origin.url("/file"), headers: [("accept-encoding", "gzip")]))
        #expect(origin.requests.first?.headers("Accept-Encoding") == ["gzip"])
    }

    @Test(arguments: [0, 5, 2_000_000])
    func postSendsItsBody(count: Int) async throws {
        origin.serve("/in", .fixed(status: 202))
        let body = Content.random(seed: 2, count: count)
        let (result, recorder) = try await client.run(
            TransferRequest(url: origin.url("/in"), method: "POST", body: body))
        #expect(result.outcome == .completed)
        #expect(recorder.head?.status == 202)
        let request = try #require(origin.requests.first)
        #expect(request.method == "POST")
        #expect(request.body == body)
        #expect(request.header("Expect") == nil)
        #expect(request.header("Content-Type") == nil)
        #expect(request.header("Content-Length") == "\(count)")
    }

    @Test func sendsOtherMethodsUnchanged() async throws {
        origin.serve("/x", .fixed())
        for (method, body) in [("PUT", [UInt8]?([1, 2])), ("DELETE", nil), ("POST", nil), ("GET", [3])] {
            _ = try await client.run(TransferRequest(url: origin.url("/x"), method: method, body: body))
        }
        #expect(origin.requests.map(\.method) == ["PUT", "DELETE", "POST", "GET"])
        #expect(origin.requests.map(\.body) == [[1, 2], [], [], [3]])
        #expect(origin.requests.map { $0.header("Content-Length") } == ["2", nil, "0", "1"])
    }

    @Test func headDeliversALengthAndNoBody() async throws {
        origin.serve("/file", .file([1, 2, 3]))
        let (result, recorder) = try await client.run(TransferRequest(url: origin.url("/file"), method: "HEAD"))
        #expect(result.outcome == .completed)
        #expect(recorder.head?.contentLength == 3)
        #expect(recorder.body.isEmpty)
        #expect(result.metrics.bodyEndKnown)
    }

    @Test func requestsARange() async throws {
        let bytes = Content.random(seed: 3, count: 10_000)
        origin.serve("/file", .file(bytes))
        let (_, tail) = try await client.run(TransferRequest(url: origin.url("/file"), rangeStart: 4_000))
        #expect(tail.head?.status == 206)
        #expect(tail.head?.value(of: "Content-Range") == "bytes 4000-9999/10000")
        #expect(tail.body == Array(bytes[4_000...]))
        let (_, middle) = try await client.run(
            TransferRequest(url: origin.url("/file"), rangeStart: 10, rangeEnd: 19))
        #expect(middle.body == Array(bytes[10...19]))
        #expect(origin.requests.map { $0.header("Range") } == ["bytes=4000-", "bytes=10-19"])
    }

    @Test func reusesTheConnection() async throws {
        origin.serve("/file", .file([1]))
        _ = try await client.run(origin.url("/file"))
        let (_, recorder) = try await client.run(origin.url("/file"))
        #expect(origin.connectionCount == 1)
        #expect(recorder.head?.remoteAddress == "127.0.0.1")
    }

    @Test func metricsContainAllSteps() async throws {
        origin.serve("/file", .file([1, 2, 3]))
        let (result, _) = try await client.run(origin.url("/file"))
        let metrics = result.metrics
        #expect(metrics.remoteAddress == "127.0.0.1")
        #expect(result.head?.httpVersion == "HTTP/1.1")
        #expect(metrics.tls == nil)
        #expect(metrics.redirectURL == nil)
        let firstByte = try #require(metrics.timeToFirstByte)
        let total = try #require(metrics.total)
        #expect(firstByte > .zero && firstByte <= total)
    }

    @Test func bodyEndIsKnownOnlyIfMarked() async throws {
        origin.serve("/length", .file([1, 2, 3]))
        origin.serve("/chunked", .file([1, 2, 3]), .chunked())
        origin.serve("/close", .file([1, 2, 3]), .withoutLength)
        origin.serve("/none", .fixed(status: 204))
        for (path, isKnown) in [("/length", true), ("/chunked", true), ("/close", false), ("/none", true)] {
            let (result, recorder) = try await client.run(origin.url(path))
            #expect(result.outcome == .completed)
            #expect(result.metrics.bodyEndKnown == isKnown, "\(path)")
            #expect(recorder.body == (path == "/none" ? [] : [1, 2, 3]))
        }
    }

    @Test(arguments: [
        ("/other?x=1", "/other?x=1"), ("sibling", "/dir/sibling"), ("../up", "/up"), ("/with space", "/with%20space"),
    ])
    func resolvesRedirectsWithoutFollowing(location: String, path: String) async throws {
        origin.serve("/dir/from", .redirect(to: location))
        let (result, recorder) = try await client.run(origin.url("/dir/from"))
        #expect(recorder.head?.status == 302)
        #expect(result.metrics.redirectURL == origin.url(path))
        #expect(origin.requests.count == 1)
    }

    @Test func rejectedRedirectHasItsTarget() async throws {
        origin.serve("/from", .redirect(to: "https://elsewhere.example/x"))
        let (result, _) = try await client.run(
            TransferRequest(url: origin.url("/from")), Recorder { _ in .reject })
        #expect(result.outcome == .rejected)
        #expect(result.metrics.redirectURL == "https://elsewhere.example/x")
    }
}
