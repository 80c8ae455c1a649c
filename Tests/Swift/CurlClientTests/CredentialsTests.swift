import CurlClient
import HTTPSemantics
import TestKit
import Testing

/// Credentials: what is sent, to which host, and what the handler receives.
@Suite struct CredentialsTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    private func run(
        _ path: String, _ credentials: Credentials?, method: String = "GET", body: [UInt8]? = nil,
        headers: [(name: String, value: String)] = []
    ) async throws -> (TransferResult, Recorder) {
        try await client.run(
            TransferRequest(
                url: origin.url(path), method: method, headers: headers, body: body, credentials: credentials))
    }

    // MARK: At once

    @Test(arguments: [
        (Credentials.basic(username: "ada", password: "p:w ü"), "Basic YWRhOnA6dyDDvA=="),
        (.basic(username: "", password: "p"), "Basic OnA="), (.basic(username: "ada", password: ""), "Basic YWRhOg=="),
        (.bearer(token: "abc.def-ghi_~+/=="), "Bearer abc.def-ghi_~+/=="),
    ])
    func basicAndBearerAreSentWithTheFirstRequest(credentials: Credentials, header: String) async throws {
        origin.serve("/file", .file([1, 2]))
        let (result, recorder) = try await run("/file", credentials)
        #expect(result.outcome == .completed)
        #expect(recorder.body == [1, 2])
        #expect(origin.requests.map { $0.headers("Authorization") } == [[header]])
    }

    @Test(arguments: [
        Credentials.basic(username: "ada", password: "wrong"), .bearer(token: "wrong"),
        .digest(username: "ada", password: "wrong"),
    ])
    func refusedCredentialsDeliverTheHeadOfThe401(credentials: Credentials) async throws {
        origin.serve("/file", .file([1, 2]), .demandingBasic("ada", "right"))
        let (result, recorder) = try await run("/file", credentials)
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [401])
        #expect(recorder.head?.value(of: "WWW-Authenticate") == #"Basic realm="test""#)
        #expect(recorder.body == OriginBehaviour.refusalPage)
        #expect(origin.requests.count == 1)
        #expect(recorder.state.current.violations.isEmpty)
    }

    @Test(arguments: [
        Credentials.basic(username: "ada", password: "p"), .bearer(token: "t"),
        .digest(username: "ada", password: "p"),
    ])
    func credentialsReplaceTheAuthorizationHeader(credentials: Credentials) async throws {
        origin.serve("/file", .file([1, 2]), .demandingDigest(OriginDigest("ada", "p")))
        _ = try await run("/file", credentials, headers: [("authorization", "Basic mine"), ("X-Other", "1")])
        #expect(!origin.requests.isEmpty)
        for request in origin.requests {
            #expect(request.headers("Authorization") != ["Basic mine"])
            #expect(request.headers("Authorization").count <= 1)
            #expect(request.header("X-Other") == "1")
        }
    }

    @Test func authorizationHeaderIsKeptWithoutCredentials() async throws {
        origin.serve("/file", .file([1]))
        _ = try await run("/file", nil, headers: [("Authorization", "Custom mine")])
        #expect(origin.requests.map { $0.headers("Authorization") } == [["Custom mine"]])
    }

    @Test(arguments: [
        (Credentials.basic(username: "ada", password: "p"), "Basic YWRhOnA="),
        (.bearer(token: "t"), "Bearer t"),
    ])
    func credentialsReplaceThoseInTheURL(credentials: Credentials, header: String) async throws {
        origin.serve("/file", .file([1]))
        let url = origin.url("/file").replacing("http://", with: "http://eve:secret@")
        _ = try await client.run(TransferRequest(url: url, credentials: credentials))
        #expect(origin.requests.map { $0.headers("Authorization") } == [[header]])
    }

    // MARK: Digest

    @Test(arguments: [OriginDigest.Algorithm.md5, .sha256], [0, 1, 2])
    func digestDeliversOnlyTheLastResponse(algorithm: OriginDigest.Algorithm, staleNonces: Int) async throws {
        let bytes = Content.random(seed: 30, count: 300_000)
        let digest = OriginDigest("ada", "p:w ü", algorithm: algorithm, staleNonces: staleNonces)
        origin.serve("/file", .file(bytes, etag: "\"v1\""), .demandingDigest(digest))
        let (result, recorder) = try await run("/file?a=1,2", .digest(username: "ada", password: "p:w ü"))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [200])
        #expect(recorder.head?.value(of: "ETag") == "\"v1\"")
        #expect(recorder.head?.value(of: "WWW-Authenticate") == nil)
        #expect(recorder.body == bytes)
        #expect(result.head?.status == 200)
        #expect(origin.requests.count == 2 + staleNonces)
        #expect(recorder.state.current.violations.isEmpty)
    }

    /// For challenges that end with a chunked body and trailers, without a body, or with the connection.
    @Test(
        arguments: [
            { @Sendable in $0.framing = .chunked(trailers: [("X-Late", "HTTP/1.1 200 OK")]) },
            { @Sendable in $0.body = [] }, { @Sendable in $0.closesConnection = true },
            { @Sendable in $0.framing = .untilClose },
            { @Sendable in $0.body = Content.random(seed: 3, count: 200_000) },
            { @Sendable in $0.headers.append(("Connection", "close")) },
        ] as [@Sendable (inout OriginAnswer) -> Void])
    func bodyOfTheChallengeIsNotDelivered(spoil: @escaping @Sendable (inout OriginAnswer) -> Void) async throws {
        origin.serve("/file", .file([1, 2, 3]), .demandingDigest(OriginDigest("ada", "p"), changes: spoil))
        let (result, recorder) = try await run("/file", .digest(username: "ada", password: "p"))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [200])
        #expect(recorder.body == [1, 2, 3])
    }

    @Test(
        arguments: [
            { @Sendable _ in }, { @Sendable in $0.body = [] }, { @Sendable in $0.framing = .chunked() },
            { @Sendable in $0.framing = .untilClose },
        ] as [@Sendable (inout OriginAnswer) -> Void])
    func refusedDigestDeliversTheLast401(spoil: @escaping @Sendable (inout OriginAnswer) -> Void) async throws {
        origin.serve("/file", .file([1, 2, 3]), .demandingDigest(OriginDigest("ada", "right"), changes: spoil))
        let (result, recorder) = try await run("/file", .digest(username: "ada", password: "wrong"))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [401])
        #expect([[], OriginBehaviour.refusalPage].contains(recorder.body))
        #expect(origin.requests.count == 2)
        #expect(recorder.state.current.violations.isEmpty)
    }

    @Test(arguments: [true, false])
    func refusedDigestCanBeRejected(hasBody: Bool) async throws {
        origin.serve(
            "/file", .file([1, 2, 3]),
            .demandingDigest(OriginDigest("ada", "right")) { if !hasBody { $0.body = [] } })
        let (result, recorder) = try await client.run(
            TransferRequest(url: origin.url("/file"), credentials: .digest(username: "ada", password: "wrong")),
            Recorder { $0.status == 401 ? .reject : .accept })
        #expect(result.outcome == .rejected)
        #expect(result.head?.status == 401)
        #expect(recorder.body.isEmpty)
    }

    @Test func digestIsNotSentWithoutAChallenge() async throws {
        origin.serve("/file", .file([1, 2, 3]))
        let (_, recorder) = try await run("/file", .digest(username: "ada", password: "p"))
        #expect(recorder.body == [1, 2, 3])
        #expect(origin.requests.map { $0.header("Authorization") } == [nil])
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "GET"], [0, 10, 1 << 20])
    func digestSendsTheBodyAfterTheChallenge(method: String, count: Int) async throws {
        let body = Content.random(seed: 31, count: count)
        origin.serve("/in", .fixed(status: 201, body: [7]), .demandingDigest(OriginDigest("ada", "p")))
        let (result, recorder) = try await run(
            "/in", .digest(username: "ada", password: "p"), method: method, body: body)
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [201])
        #expect(recorder.body == [7])
        #expect(origin.requests.map(\.method) == [method, method])
        #expect(origin.requests.last?.body == body)
        #expect(origin.requests.first?.body == [])
        #expect(origin.requests.allSatisfy { $0.header("Expect") == nil })
    }

    @Test(arguments: [200, 204])
    func digestSendsTheBodyIfThereIsNoChallenge(status: Int) async throws {
        origin.serve("/in", .fixed(status: status, body: status == 200 ? [7] : []))
        let (result, recorder) = try await run(
            "/in", .digest(username: "ada", password: "p"), method: "POST", body: [1, 2, 3])
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [status])
        #expect(recorder.body == (status == 200 ? [7] : []))
        #expect(origin.requests.map(\.body) == [[], [1, 2, 3]])
    }

    @Test(arguments: [403, 302, 500])
    func digestDeliversARefusalWithoutAChallenge(status: Int) async throws {
        origin.serve("/in", .fixed(status: status, body: [7]))
        let (_, recorder) = try await run(
            "/in", .digest(username: "ada", password: "p"), method: "POST", body: [1, 2, 3])
        #expect(recorder.state.current.heads.map(\.status) == [status])
        #expect(recorder.body == [7])
        #expect(origin.requests.map(\.body) == [[]])
    }

    @Test func headAndRangeWorkWithDigest() async throws {
        origin.serve("/file", .file([1, 2, 3, 4]), .demandingDigest(OriginDigest("ada", "p")))
        let (_, head) = try await run("/file", .digest(username: "ada", password: "p"), method: "HEAD")
        #expect(head.head?.status == 200)
        #expect(head.head?.contentLength == 4)
        let (_, tail) = try await client.run(
            TransferRequest(
                url: origin.url("/file"), rangeStart: 2, credentials: .digest(username: "ada", password: "p")))
        #expect(tail.head?.status == 206)
        #expect(tail.body == [3, 4])
    }

    @Test func digestFailsIfTheConnectionIsLostAfterTheChallenge() async throws {
        origin.serve("/file", .file([1]), .demandingDigest(OriginDigest("ada", "p")), .hangingUp.on(2...))
        let (result, recorder) = try await run("/file", .digest(username: "ada", password: "p"))
        guard case .connectionLost = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(recorder.head == nil)
        #expect(result.head == nil)
    }

    // MARK: Isolation

    /// Neither the connection nor the reused easy handle may keep the credentials of another transfer.
    @Test func reusedConnectionSendsEachTransfersOwnCredentials() async throws {
        origin.serve("/file", .file([1]))
        let all: [(Credentials?, String?)] = [
            (.basic(username: "ada", password: "a"), "Basic YWRhOmE="), (nil, nil),
            (.basic(username: "bob", password: "b"), "Basic Ym9iOmI="), (.bearer(token: "t"), "Bearer t"), (nil, nil),
            (.digest(username: "eve", password: "e"), nil), (nil, nil),
        ]
        for (credentials, _) in all { _ = try await run("/file", credentials) }
        #expect(origin.requests.map { $0.header("Authorization") } == all.map(\.1))
        #expect(origin.connectionCount == 1)
    }

    @Test func reusedConnectionSendsEachTransfersOwnDigest() async throws {
        origin.serve("/ada", .file([1]), .demandingDigest(OriginDigest("ada", "a")))
        origin.serve("/bob", .file([2]), .demandingDigest(OriginDigest("bob", "b")))
        for _ in 0..<2 {
            let (_, ada) = try await run("/ada", .digest(username: "ada", password: "a"))
            let (_, bob) = try await run("/bob", .digest(username: "bob", password: "b"))
            let (_, nobody) = try await run("/bob", nil)
            #expect([ada, bob, nobody].map(\.body) == [[1], [2], OriginBehaviour.refusalPage])
        }
        #expect(origin.requests.count == 10)
        #expect(origin.connectionCount == 1)
    }

    @Test func descriptionsContainNoSecret() async throws {
        let secret = "s3cr3t"
        let proxy = Proxy(
            scheme: .http, host: "127.0.0.1", port: Int(origin.port), username: secret, password: secret)
        for credentials: Credentials in [
            .basic(username: secret, password: secret), .digest(username: secret, password: secret),
            .bearer(token: secret),
        ] {
            let request = TransferRequest(url: origin.url("/"), credentials: credentials, proxy: proxy)
            var dumped = ""
            dump(request, to: &dumped)
            let texts = ["\(request)", String(reflecting: request), "\(credentials)", "\(proxy)", dumped]
            #expect(texts.allSatisfy { !$0.contains(secret) })
            for spoiled in [secret + "\n", secret + "ü ", secret + ":"] {
                let faulty: [Credentials] = [
                    .basic(username: spoiled, password: spoiled + "\n"), .bearer(token: spoiled + "\n"),
                    .digest(username: spoiled, password: spoiled + "\n"),
                ]
                for credentials in faulty {
                    let (result, _) = try await run("/", credentials)
                    guard case .protocolError(let why) = result.error else {
                        Issue.record("\(result.outcome)")
                        continue
                    }
                    #expect(!why.contains(secret))
                }
            }
        }
        #expect(origin.connectionCount == 0)
    }

    @Test(arguments: [
        Credentials.basic(username: "a:b", password: "c"), .basic(username: "a", password: "b\r\nX: 1"),
        .digest(username: "a\r\nX: 1", password: "b"), .digest(username: "a", password: "b\0"), .bearer(token: ""),
        .bearer(token: "a b"), .bearer(token: "a\r\nX: 1"), .bearer(token: "ü"),
    ])
    func refusesInvalidCredentialsBeforeSending(credentials: Credentials) async throws {
        let (result, _) = try await run("/", credentials)
        guard case .protocolError = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(origin.connectionCount == 0)
    }
}
