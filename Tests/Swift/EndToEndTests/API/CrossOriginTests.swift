import API
import Configuration
import Formats
import Foundation
import TestKit
import Testing

/// The CORS headers of every kind of response (WHATWG Fetch, "CORS protocol").
@Suite struct CrossOriginTests {
    private static let page = "http://localhost:9000"
    private static let stranger = "http://evil.example"

    private typealias Headers = [(name: String, value: String)]

    private func preflight(
        _ scene: Scene, _ path: String, of origin: String = page, _ more: Headers = []
    ) async throws -> APIAnswer {
        // Without a token, as browsers send preflights.
        let asking: Headers = [("Origin", origin), ("Access-Control-Request-Method", "POST")]
        return try await APIClient(baseURL: scene.fetchd.baseURL).send("OPTIONS", path, headers: asking + more)
    }

    private func corsFields(of answer: APIAnswer) -> [String] {
        // What depends on the coding, and not on the origin, is another matter.
        answer.headers.filter { $0.value != "Accept-Encoding" }.map { $0.name.lowercased() }.filter {
            $0.hasPrefix("access-control-") || $0 == "vary"
        }
    }

    @Test func answersPreflightOfAllowedOriginWithMethodsOfPath() async throws {
        let scene = try await Scene(
            .init(token: "correct") { $0.start.values.allowedOrigins = .only([WebOrigin(Self.page + "/")!]) })
        for (path, methods) in [
            ("/v1/jobs", "GET, HEAD, POST"), ("/v1/jobs/job_1", "DELETE, GET, HEAD, PATCH"),
            ("/v1/jobs/job_1/pause", "POST"),
            ("/v1/events?after=7", "GET, HEAD"), ("/readyz", "GET, HEAD"),
        ] {
            let answer = try await preflight(scene, path)
            #expect(answer.status == 204, "\(path)")
            #expect(answer.body.isEmpty)
            #expect(answer.header("Access-Control-Allow-Origin") == Self.page)
            #expect(answer.header("Access-Control-Allow-Methods") == methods)
            #expect(answer.header("Access-Control-Allow-Headers")?.contains("Authorization") ?? false)
            #expect(answer.header("Access-Control-Max-Age") == "7200")
            #expect(answer.header("Vary") == "Origin")
        }
        let near = try await preflight(scene, "/v1/jobs", [("Access-Control-Request-Private-Network", "true")])
        #expect(near.header("Access-Control-Allow-Private-Network") == "true")
        #expect(try await preflight(scene, "/v1/nothing").status == 404)

        let refused = try await preflight(scene, "/v1/jobs", of: Self.stranger)
        #expect(refused.status == 405)
        #expect(corsFields(of: refused) == ["vary"])
        // A foreign host is refused before any other check.
        #expect(try await preflight(scene, "/v1/jobs", [("Host", "evil.example")]).status == 421)
    }

    /// Successes, errors, empty responses, streams and errors of the HTTP server itself: a page of an allowed origin
    /// can read them all.
    @Test func addsCORSHeadersToEveryKindOfResponse() async throws {
        let scene = try await Scene(.init { $0.start.values.allowedOrigins = .only([WebOrigin(Self.page)!]) })
        let id = try await scene.job(in: .succeeded)
        let tag = try await scene.api.tag(of: id)
        let (large, narrow) = ([UInt8](repeating: 0x20, count: (1 << 20) + 1), [("Range", "bytes=0-9")])
        func answer(_ method: String, _ path: String, _ body: [UInt8]? = nil, _ headers: Headers = []) async throws
            -> APIAnswer
        {
            try await scene.api.send(method, path, bytes: body, headers: headers + [("Origin", Self.page)])
        }
        let order = scene.order().bytes
        let answers: [(status: Int, answer: APIAnswer)] = [
            (200, try await answer("GET", "/v1/jobs")), (200, try await answer("HEAD", "/v1/jobs/\(id)")),
            (304, try await answer("GET", "/v1/jobs/\(id)", nil, [("If-None-Match", tag)])),
            (304, try await answer("GET", "/v1/jobs/\(id)", nil, [("If-None-Match", tag), ("Prefer", "wait=0")])),
            (200, try await answer("GET", "/v1/jobs/\(id)/file")),
            (206, try await answer("GET", "/v1/jobs/\(id)/file", nil, narrow)),
            (201, try await answer("POST", "/v1/jobs", order)), (204, try await answer("DELETE", "/v1/jobs/\(id)")),
            (400, try await answer("POST", "/v1/jobs", Array("{".utf8))),
            (404, try await answer("GET", "/v1/jobs/\(id)")),
            (405, try await answer("PUT", "/v1/jobs", order)), (413, try await answer("POST", "/v1/jobs", large)),
            (415, try await answer("POST", "/v1/jobs", order, [("Content-Type", "text/plain")])),
            (421, try await answer("GET", "/v1/jobs", nil, [("Host", "evil.example")])),
            (422, try await answer("GET", "/v1/jobs?stranger=1")), (200, try await answer("GET", "/metrics")),
            (200, try await answer("GET", "/readyz")), (200, try await answer("GET", "/openapi.yaml")),
        ]
        for (status, answer) in answers {
            #expect(answer.status == status)
            #expect(answer.header("Access-Control-Allow-Origin") == Self.page, "\(status)")
            #expect(answer.header("Access-Control-Expose-Headers")?.contains("ETag, Location") ?? false, "\(status)")
            let vary = answer.header("Vary") ?? ""
            #expect(
                ["Origin", "Accept-Encoding, Origin"].contains(vary) || vary.hasPrefix("Accept, "), "\(status): \(vary)"
            )
            #expect(answer.header("Access-Control-Allow-Credentials") == nil)
        }
        let listener = try EventListener(to: scene.fetchd.port, "after=0", origin: Self.page)
        let stream = try await listener.wait(for: "the head") { $0.status == 200 }
        #expect(stream.headers.contains { $0.name == "Access-Control-Allow-Origin" && $0.value == Self.page })
    }

    @Test func addsCORSHeadersTo401() async throws {
        let scene = try await Scene(
            process: .init(environment: ["FETCHD_ALLOW_ORIGIN": "https://a.example,\(Self.page)"], token: "correct"))
        let stranger = APIClient(baseURL: scene.fetchd.baseURL)
        let refused = try await stranger.get("/v1/jobs", headers: [("Origin", Self.page)])
        #expect(refused.status == 401)
        #expect(refused.header("Access-Control-Allow-Origin") == Self.page)
        #expect(try await scene.api.get("/v1/jobs", headers: [("Origin", Self.page)]).status == 200)
    }

    /// A page can also read the response to a wait that the service's shutdown ends.
    @Test func addsCORSHeadersToWaitAnsweredAtShutdown() async throws {
        let scene = try await Scene(process: .init(arguments: ["--allow-origin", Self.page]))
        let id = try await scene.job(in: .paused)
        let tag = try await scene.api.tag(of: id)
        async let answer = scene.api.get(
            "/v1/jobs/\(id)", headers: [("Origin", Self.page), ("If-None-Match", tag), ("Prefer", "wait=30")])
        try await scene.untilWatched()
        try await scene.process.terminate()
        #expect(try await answer.header("Access-Control-Allow-Origin") == Self.page)
    }

    /// By default, pages of other origins can neither read responses nor change anything.
    @Test func allowsNoOriginAndRefusesForeignWritesByDefault() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        for path in ["/v1/jobs", "/v1/jobs/\(id)", "/v1/nothing", "/readyz", "/"] {
            let answer = try await scene.api.get(path, headers: [("Origin", Self.page)])
            #expect(corsFields(of: answer) == [], "\(path)")
        }
        let asked = try await preflight(scene, "/v1/jobs")
        #expect(asked.status == 405)
        #expect(corsFields(of: asked) == [])

        // Requests that a browser sends without a preflight: no body, no headers of the page.
        for (method, path) in [
            ("POST", "/v1/sessions/default/cancel"), ("POST", "/v1/jobs/\(id)/cancel"), ("DELETE", "/v1/jobs/\(id)"),
            ("POST", "/v1/jobs"),
        ] {
            for headers: Headers in [
                [("Origin", Self.stranger)], [("Origin", "null"), ("Sec-Fetch-Site", "cross-site")],
                [("Origin", Self.page), ("Sec-Fetch-Site", "same-site")],
            ] {
                let answer = try await scene.api.send(method, path, headers: headers)
                #expect(answer.status == 403, "\(method) \(path)")
                #expect(answer.problem == .init(kind: "foreign-origin"))
            }
        }
        #expect(try await scene.api.job(id)["state"] == "paused")
        let own = try await scene.api.send(
            "POST", "/v1/jobs/\(id)/cancel",
            headers: [("Origin", scene.fetchd.baseURL), ("Sec-Fetch-Site", "same-origin")])
        #expect(own.status == 200)
    }

    @Test func allowsAnyOriginWithWildcard() async throws {
        let scene = try await Scene(.init(token: "correct") { $0.start.values.allowedOrigins = .any })
        let answer = try await scene.api.send("POST", "/v1/jobs", scene.order(), headers: [("Origin", Self.stranger)])
        #expect(answer.status == 201)
        #expect(answer.header("Access-Control-Allow-Origin") == "*")
        #expect(answer.header("Vary") == nil)
        #expect(try await preflight(scene, "/v1/jobs", of: Self.stranger).status == 204)
    }
}
