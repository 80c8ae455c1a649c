import CurlClient
import HTTPSemantics
import TestKit
import Testing

/// A transfer that is refused or fails has no effect on the transfers beside it and after it.
@Suite struct UnrelatedTransferTests {
    let client: CurlClient
    let origin: Origin
    private let bytes = Content.random(seed: 43, count: 70_000)

    init() throws {
        client = try CurlClient()
        origin = try Origin()
        origin.serve("/file", .file(bytes))
        origin.serve("/protected", .file(bytes), .demandingDigest(OriginDigest("ada", "p")))
        origin.serve("/cut", .file(bytes), .closing(after: 1_000))
        origin.serve("/reset", .file(bytes), .resetting(after: 1_000))
        origin.serve("/garbage", .file(bytes), .garbage())
    }

    /// Requests that fail: by their URL, their method, a field, an option of libcurl, or the connection.
    private var failing: [TransferRequest] {
        (failingURLs.map { TransferRequest(url: $0) } + failingOptions).map { request in
            var request = request
            // For the ends of a connection that wait for each other.
            (request.timeouts.connect, request.timeouts.idle) = (.milliseconds(200), .milliseconds(200))
            return request
        }
    }

    private var failingURLs: [String] {
        [
            "", "nonsense", "http://", "http:///x", "http://a b/", "ftp://127.0.0.1/", "file:///etc/passwd",
            "http://b\u{FC}cher.example/", "http://b%C3%BCcher.example/", "http://\u{301}x.example/",
            "http://\u{2100}.example/", "http://-\u{FC}-.example/", "http://*/", "http://a*b/", "http://a,b/",
            "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://[::1/", "http://[:::]/", "http://a..b.invalid/",
            "http://\(String(repeating: "a", count: 64)).invalid/", "http://xn--zzzzzzzz99999.invalid/",
            "http://127.0.0.1/\r\nX-Evil: 1", "http://127.0.0.1/\0", "http://127.0.0.1:1/", "https://127.0.0.1:1/",
            "https://127.0.0.1:\(origin.port)/file", "http://0.0.0.0:1/", "http://255.255.255.255/",
            "http://127.0.0.1/\(String(repeating: "a", count: 8_000_001))",
            origin.url("/cut"), origin.url("/reset"), origin.url("/garbage"),
        ]
    }

    private var failingOptions: [TransferRequest] {
        let long = String(repeating: "a", count: 8_000_001)
        let key = TransferRequest.TLSOptions(pinnedPublicKeys: ["x"])
        let (url, secure) = (origin.url("/file"), "https://127.0.0.1:\(origin.port)/file")
        return [
            TransferRequest(url: url, method: "G ET"), TransferRequest(url: url, method: "CONNECT"),
            TransferRequest(url: url, method: "HEAD", body: [1]), TransferRequest(url: url, method: long),
            TransferRequest(url: url, headers: [("X A", "1")]),
            TransferRequest(url: url, headers: [("Content-Length", "5")]),
            TransferRequest(url: url, headers: [("X-A", "1\r\nX-Evil: 1")]),
            TransferRequest(url: url, userAgent: "a\n"),
            TransferRequest(url: url, userAgent: long), TransferRequest(url: url, rangeStart: -1),
            TransferRequest(url: url, rangeEnd: 5),
            TransferRequest(url: url, credentials: .basic(username: "a:b", password: "")),
            TransferRequest(url: url, credentials: .basic(username: "ada", password: long)),
            TransferRequest(url: url, credentials: .digest(username: long, password: "p")),
            TransferRequest(url: url, credentials: .bearer(token: "")),
            TransferRequest(url: url, proxy: .init(scheme: .http, host: "127.0.0.1", port: 0)),
            TransferRequest(url: url, proxy: .init(scheme: .http, host: "127.0.0.1", port: 1)),
            TransferRequest(url: url, proxy: .init(scheme: .socks5, host: "127.0.0.1", port: Int(origin.port))),
            TransferRequest(url: url, proxy: .init(scheme: .socks5, host: "b\u{FC}cher.invalid", port: 1)),
            TransferRequest(url: url, tls: .init(caFile: "")), TransferRequest(url: url, tls: key),
            TransferRequest(url: secure, tls: .init(caFile: "/nonexistent")),
            TransferRequest(
                url: url, timeouts: .init(total: .milliseconds(1)), rateLimits: [RateLimit(bytesPerSecond: 1)]),
        ]
    }

    /// Requests that complete, with the body that each receives, and the fields that the origin receives from it.
    private struct Good {
        var request: TransferRequest
        var body: ArraySlice<UInt8>
        var fields: [String]
    }

    private var good: [Good] {
        let (url, all) = (origin.url("/file"), bytes[...])
        let basic = Credentials.basic(username: "ada", password: "p")
        let own = ["Accept", "Accept-Encoding", "Host", "X-Number"]
        return [
            Good(request: TransferRequest(url: url), body: all, fields: own),
            Good(request: TransferRequest(url: url, rangeStart: 60_000), body: all[60_000...], fields: own + ["Range"]),
            Good(
                request: TransferRequest(url: url, method: "POST", body: [1, 2]), body: all,
                fields: own + ["Content-Length"]),
            Good(request: TransferRequest(url: url, method: "HEAD"), body: [], fields: own),
            Good(
                request: TransferRequest(url: url, userAgent: "fetchd", credentials: basic), body: all,
                fields: own + ["Authorization", "User-Agent"]),
            Good(
                request: TransferRequest(
                    url: url, timeouts: .init(connect: .seconds(100_000_000), idle: nil),
                    rateLimits: [RateLimit(bytesPerSecond: 10_000_000)]),
                body: all, fields: own),
            Good(
                request: TransferRequest(
                    url: origin.url("/protected"), credentials: .digest(username: "ada", password: "p")),
                body: all, fields: own + ["Authorization"]),
        ]
    }

    /// In each round, one transfer fails and three complete, in a random order.
    @Test(arguments: 0..<4)
    func leavesOtherTransfersUntouched(seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        for (round, request) in failing.shuffled(using: &random).enumerated() {
            let (bad, position) = (Recorder(), Int.random(in: 0...3, using: &random))
            let others = good.shuffled(using: &random).prefix(3).map { Running(good: $0) }
            for (index, other) in others.enumerated() {
                if index == position { client.start(request, handler: bad) }
                var request = other.good.request
                request.headers.append(("X-Number", "\(round).\(index)"))
                client.start(request, handler: other.recorder)
            }
            if position == 3 { client.start(request, handler: bad) }
            for (index, other) in others.enumerated() {
                try await expectUntouched(other, "\(round).\(index)", beside: bad)
            }
        }
        #expect(origin.requests.allSatisfy { $0.header("X-Evil") == nil })
    }

    /// The mechanism behind it: a name that libcurl cannot convert, and then any other transfer.
    @Test func completesTransferAfterHostThatCannotBeConverted() async throws {
        for _ in 0..<3 {
            guard case .badURL = try await client.run("http://b\u{FC}cher.example/").0.error else {
                Issue.record("The URL was not refused.")
                return
            }
            #expect(try await client.run(origin.url("/file")).0.outcome == .completed)
        }
    }

    private struct Running {
        let good: Good
        let recorder = Recorder()
    }

    private func expectUntouched(_ running: Running, _ number: String, beside bad: Recorder) async throws {
        let result = try await running.recorder.result()
        let refusal = try await bad.result()
        #expect(result.outcome == .completed, "beside \(refusal.outcome)")
        #expect(running.recorder.body[...] == running.good.body)
        #expect(refusal.outcome != .completed)
        let sent = origin.requests.last { $0.header("X-Number") == number }
        #expect(sent?.headers.map(\.name).sorted() == running.good.fields.sorted())
    }
}
