import Formats
import TestKit
import Testing

/// Downloads with a request body: what is sent, and what a redirect or a lost connection does to it.
@Suite struct RequestBodyTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws {
        scene = try await Scene()
        scene.origin.serve("/report", .file(scene.bytes))
    }

    @discardableResult
    private func download(_ path: String = "/report", _ members: JSONObject) async throws -> JSON {
        try await api.waitForJob(
            api.submit(scene.order(path).with(["retry": ["base_seconds": 0.01]]).with(members)), .succeeded)
    }

    private func last(_ path: String = "/report") throws -> RecordedRequest {
        try #require(scene.origin.requests(to: path).last)
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func sendsEveryKindOfBodyWithEveryMethod(_ method: String) async throws {
        let bodies: [(JSONObject, String, String)] = [
            (["body": "a=b\r\nü\u{0}"], "a=b\r\nü\u{0}", "text/plain; charset=utf-8"),
            (["body": ""], "", "text/plain; charset=utf-8"),
            (
                ["form": ["b z": "ü&=", "a": "1+1 *-._~", "": "", "new\nline": "/?"]],
                "b+z=%C3%BC%26%3D&a=1%2B1+*-._%7E&=&new%0Aline=%2F%3F", "application/x-www-form-urlencoded"
            ),
            (["form": [:]], "", "application/x-www-form-urlencoded"),
            (
                ["json": ["b": 1, "a": [1.5, true, nil, "ü\n"], "n": 9_223_372_036_854_775_807]],
                #"{"b":1,"a":[1.5,true,null,"ü\n"],"n":9223372036854775807}"#, "application/json"
            ),
            (["json": "text"], "\"text\"", "application/json"), (["json": false], "false", "application/json"),
            (["json": []], "[]", "application/json"),
        ]
        for (members, text, type) in bodies {
            let job = try await download("/report", JSON.object(["method": .string(method)]).with(members).objectValue!)
            let request = try last()
            #expect(request.method == method)
            #expect(String(decoding: request.body, as: UTF8.self) == text)
            #expect(request.headers("Content-Type") == [type])
            #expect(request.headers("Content-Length") == ["\(text.utf8.count)"])
            #expect(request.header("Range") == nil)
            #expect(job["receipt"]["status"] == 200)
        }
        try await download("/report", ["method": .string(method)])
        #expect(try last().body.isEmpty)
        #expect(try last().header("Content-Type") == nil)
        #expect(try last().header("Content-Length") == "0")
    }

    /// Numbers beyond 64 bits are kept digit by digit: they may be identifiers.
    @Test func sendsNumbersInBodyUnrounded() async throws {
        let text = #"{"large":18446744073709551615,"small":-9223372036854775809,"real":1.25}"#
        let order = #"{"url":"\#(scene.origin.url("/report"))","method":"POST","json":\#(text),"metadata":\#(text)}"#
        let created = try await api.send("POST", "/v1/jobs", bytes: Array(order.utf8))
        #expect(created.text.contains(#""metadata":\#(text)"#))
        try await api.waitForJob(created.json["id"].string ?? "", .succeeded)
        #expect(String(decoding: try last().body, as: UTF8.self) == text)
    }

    @Test func prefersContentTypeOfJobHeaders() async throws {
        try await download(
            "/report", ["method": "POST", "json": ["a": 1], "headers": ["content-TYPE": "application/ld+json"]])
        #expect(try last().headers("Content-Type") == ["application/ld+json"])
    }

    @Test func mergesSessionHeadersUnderJobHeaders() async throws {
        try await api.declareSession(
            "films",
            ["headers": ["X-Both": "session", "X-Session": "s", "Content-Type": "text/csv"], "user_agent": "f/1"])
        try await download(
            "/report",
            ["session": "films", "method": "POST", "body": "a", "headers": ["x-both": "job", "X-Job": "j"]])
        let request = try last()
        #expect(request.headers("X-Both") == ["job"])
        #expect(request.headers("X-Session") == ["s"])
        #expect(request.headers("X-Job") == ["j"])
        #expect(request.headers("Content-Type") == ["text/csv"])
        #expect(request.headers("User-Agent") == ["f/1"])
        try await download("/report", ["session": "films", "headers": ["User-Agent": "own/2"]])
        #expect(try last().headers("User-Agent") == ["own/2"])
    }

    /// Browsers turn some of these into a GET; the others repeat the method and body.
    @Test(arguments: [
        ("POST", 301, "GET"), ("POST", 302, "GET"), ("POST", 303, "GET"), ("POST", 307, "POST"), ("POST", 308, "POST"),
        ("PUT", 301, "PUT"), ("PUT", 302, "PUT"), ("PUT", 303, "GET"), ("PUT", 307, "PUT"), ("PATCH", 308, "PATCH"),
    ])
    func changesMethodToGetOrRepeatsItAfterRedirect(_ method: String, _ status: Int, _ then: String) async throws {
        let elsewhere = try Origin()
        elsewhere.serve("/there", .file(scene.bytes))
        scene.origin.serve("/form", .redirect(to: "/hop", status: status))
        scene.origin.serve("/hop", .redirect(to: elsewhere.url("/there"), status: 307))
        let job = try await download(
            "/form",
            [
                "method": .string(method), "body": "a,b",
                "headers": ["Content-Type": "text/csv", "X-Album": "12"],
            ])
        #expect(job["receipt"]["redirects"].count == 2)
        #expect(try last("/form").body == Array("a,b".utf8))
        let (inner, outer) = (try last("/hop"), try #require(elsewhere.requests.last))
        for request in [inner, outer] {
            #expect(request.method == then)
            #expect(request.body == (then == "GET" ? [] : Array("a,b".utf8)))
            #expect(request.headers("Content-Type") == (then == "GET" ? [] : ["text/csv"]))
            #expect(request.header("Content-Length") == (then == "GET" ? nil : "3"))
        }
        #expect(inner.header("X-Album") == "12")
        #expect(outer.header("X-Album") == nil)
    }

    /// The response to a POST or PUT cannot be resumed by range: the request is repeated as a whole.
    @Test(arguments: ["POST", "PUT"])
    func restartsInterruptedRequestWithBody(_ method: String) async throws {
        scene.origin.serve("/report", .file(scene.bytes), .closing(after: 120_000).once)
        let job = try await download("/report", ["method": .string(method), "form": ["page": "1"]])
        #expect(job["resume"] == ["decision": "restarted", "why": "no_validator", "offset": 0])
        let requests = scene.origin.requests(to: "/report")
        #expect(requests.map(\.method) == [method, method])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["page=1", "page=1"])
        #expect(requests.allSatisfy { $0.header("Range") == nil && $0.header("If-Range") == nil })
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
        try await scene.expectStoredParts([])
    }

    @Test(.realProcess) func restartsPausedRequestWithBodyAfterKill() async throws {
        let id = try await scene.pausedJob(("method", "POST"), ("json", ["page": 1]))
        try await scene.process.kill()
        try await scene.process.restart()
        scene.gate.open()
        try await api.act(.resume, on: id)
        #expect(try await api.waitForJob(id, .succeeded)["resume"]["decision"] == "restarted")
        #expect(try last("/held").body == Array(#"{"page":1}"#.utf8))
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
    }

    @Test func sendsCredentialsWithBody() async throws {
        scene.origin.serve("/basic", .file(scene.bytes), .demandingBasic("me", "pw"))
        scene.origin.serve("/digest", .file(scene.bytes), .demandingDigest(OriginDigest("me", "pw")))
        for kind in ["basic", "digest"] {
            try await download(
                "/\(kind)",
                [
                    "method": "POST", "body": "a,b",
                    "credentials": ["type": .string(kind), "username": "me", "password": "pw"],
                ])
            #expect(try last("/\(kind)").body == Array("a,b".utf8))
        }
    }

    /// `Refusal.job` has every refusal of a body; this test checks that none of them reaches the origin.
    @Test func refusesInvalidBodyBeforeAnyRequest() async throws {
        let refusals: [Refusal] = [
            .invalid(["method": "POST", "body": "a", "form": ["a": "b"]], "/form"),
            .invalid(["method": "POST", "body": "a", "json": [:]], "/json"),
            .invalid(["method": "POST", "form": [:], "json": [:]], "/json"),
            .invalid(["method": "POST", "body": "a", "form": [:], "json": [:]], "/form"),
            .invalid(["body": ""], "/body"), .invalid(["method": "GET", "form": ["a": "b"]], "/form"),
            .invalid(["method": "GET", "json": 0], "/json"), .invalid(["method": "HEAD"], "/method"),
        ]
        for refusal in refusals {
            let answer = try await api.post("/v1/jobs", scene.order("/report").with(refusal.members))
            #expect(answer.status == 422)
            #expect(answer.problem == refusal.problem, "\(answer)")
        }
        #expect(scene.origin.requests.isEmpty)
    }
}
