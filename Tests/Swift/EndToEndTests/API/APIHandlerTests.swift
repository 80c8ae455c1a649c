import Formats
import Foundation
import TestKit
import Testing

/// Checks that hold for every path: methods, host names, the token, and bodies where none is allowed.
@Suite struct APIHandlerTests {
    private static let job = "/v1/jobs/job_01HZX3K9V7Q2N4R8T6W0YB5CDE"
    /// Every path, and its methods.
    private static let paths: [(path: String, allow: String)] = [
        ("/v1/sessions", "GET, HEAD"), ("/v1/sessions/default", "DELETE, GET, HEAD, PATCH, PUT"),
        ("/v1/sessions/default/webhooks", "GET, HEAD"),
        ("/v1/sessions/default/webhooks/consumer", "DELETE, GET, HEAD, PUT"),
        ("/v1/sessions/default/webhooks/consumer/deliveries", "GET, HEAD"), ("/v1/jobs", "GET, HEAD, POST"),
        (job, "DELETE, GET, HEAD, PATCH"), ("\(job)/pause", "POST"),
        ("\(job)/resume", "POST"), ("\(job)/cancel", "POST"),
        ("\(job)/retry", "POST"), ("\(job)/file", "GET, HEAD"), ("/v1/events", "GET, HEAD"), ("/livez", "GET, HEAD"),
        ("/readyz", "GET, HEAD"), ("/openapi.yaml", "GET, HEAD"), ("/", "GET, HEAD"),
        ("/client.js", "GET, HEAD"),
    ]
    /// Every method and path, and the path that only takes POST.
    private static let operations: [(method: String, path: String)] =
        paths.flatMap { path, allow in allow.split(separator: ", ").map { (String($0), path) } }
        + [("POST", "/v1/jobs/batch")]

    @Test func answers405WithAllowForUnsupportedMethod() async throws {
        let scene = try await Scene()
        for (path, allow) in Self.paths {
            for method in ["PATCH", "OPTIONS", "TRACE", "PROPFIND"] where !allow.contains(method) {
                let answer = try await scene.api.send(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.header("Allow") == allow, "\(path)")
                #expect(answer.problem == .init(kind: "method-not-allowed"))
            }
        }
        #expect(try await scene.api.send("PUT", "/v1/jobs/batch", [:]).status == 405)
        // The path is not that of a job.
        let answer = try await scene.api.get("/v1/jobs/batch")
        #expect(answer.status == 405)
        #expect(answer.header("Allow") == "POST")
    }

    @Test(arguments: [
        "//", "/v1", "/v2/jobs", "/v1/job", "/v1/jobs/", "//v1/jobs", "/v1/jobs/a/b/c", "/V1/jobs", "/v1%2Fjobs",
    ])
    func answers404ForUnknownPath(_ path: String) async throws {
        let scene = try await Scene()
        let answer = try await scene.api.get(path)
        #expect(answer.status == 404)
        #expect(answer.problem == .init(kind: "not-found"))
    }

    @Test func answers400ForMalformedPath() async throws {
        let scene = try await Scene()
        for path in ["/v1/jobs/%zz", "/v1/jobs/%FF", "/v1/jobs/%00", "/v1/jobs?tag=%zz", "/v1/jobs?%FF=1"] {
            let answer = try await scene.api.get(path)
            #expect(answer.status == 400, "\(path)")
            #expect(answer.problem == .init(kind: "malformed-request"))
        }
    }

    /// A misspelt parameter is refused like an unknown member of a body, whether the path has parameters or not.
    @Test func refusesUnknownQueryParameterOfEveryOperation() async throws {
        let scene = try await Scene()
        for (method, path) in Self.operations {
            let body: JSON? = ["GET", "HEAD", "DELETE"].contains(method) ? nil : [:]
            let answer = try await scene.api.send(method, path + "?stranger=1", body)
            #expect(answer.status == 422, "\(method) \(path)")
            guard method != "HEAD" else { continue }
            #expect(answer.problem == .init(kind: "unknown-field"), "\(method) \(path)")
        }
    }

    /// Protects against DNS rebinding: a page's own host name may resolve to this machine.
    @Test func answers421ForForeignHost() async throws {
        let scene = try await Scene(.init { $0.start.values.publicHosts = ["Downloads.Example"] })
        for (method, path) in Self.operations {
            let answer = try await scene.api.send(method, path, headers: [("Host", "evil.example:8080")])
            #expect(answer.status == 421, "\(method) \(path)")
            #expect(answer.problem == .init(kind: "misdirected-request") || method == "HEAD")
        }
        for host in ["127.0.0.1", "localhost", "LOCALHOST:1", "10.1.2.3:80", "[::1]:8080", "downloads.example:443"] {
            #expect(try await scene.api.get("/v1/jobs", headers: [("Host", host)]).status == 200, "\(host)")
        }
        for host in [
            "localhost.evil.example", "127.0.0.1.evil.example", "downloads.example.evil", "1.2.3.256", "0x7f.1",
        ] {
            #expect(try await scene.api.get("/v1/jobs", headers: [("Host", host)]).status == 421, "\(host)")
        }
    }

    @Test func answers401WithoutToken() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let stranger = APIClient(baseURL: scene.fetchd.baseURL)
        for (method, path) in Self.operations {
            let answer = try await stranger.send(method, path)
            // Health, the description and the dashboard need no token.
            #expect(answer.status == (path.hasPrefix("/v1/") ? 401 : 200), "\(method) \(path)")
        }
        #expect(try await scene.api.get("/v1/jobs").status == 200)
    }

    @Test(arguments: [
        "Bearer wrong", "Bearer", "Bearer correct horse", "Basic Y29ycmVjdA==", "correct", "Bearer correctx",
    ])
    func answers401ForWrongTokenAndNeverLogsIt(_ authorization: String) async throws {
        let scene = try await Scene(.init(token: "correct"))
        let stranger = APIClient(baseURL: scene.fetchd.baseURL)
        let answer = try await stranger.get("/v1/jobs", headers: [("Authorization", authorization)])
        #expect(answer.status == 401)
        #expect(answer.problem == .init(kind: "unauthorized"))
        #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
        let refused = try await stranger.send(
            "POST", "/v1/jobs", scene.order(), headers: [("Authorization", authorization)])
        #expect(refused.status == 401)
        #expect(try await scene.isUntouched())
        #expect(!scene.fetchd.log.contains("correct"))
        // The scheme is case-insensitive.
        #expect(try await stranger.get("/v1/jobs", headers: [("Authorization", "bEARER correct")]).status == 200)
    }

    @Test func answers413ForBodyOfGetOrDelete() async throws {
        let scene = try await Scene()
        for (path, allow) in Self.paths where allow.contains("GET") {
            let answer = try await scene.api.send("GET", path, [:])
            #expect(answer.status == 413, "\(path)")
            #expect(answer.problem == .init(kind: "body-too-large"))
        }
        for (method, path) in Self.operations where method == "DELETE" {
            #expect(try await scene.api.send(method, path, [:]).status == 413)
        }
    }

    @Test func answers413ForTooLargeBody() async throws {
        let scene = try await Scene()
        let body = Array(repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        for (method, path) in Self.operations where ["POST", "PUT"].contains(method) && path != "/v1/jobs/batch" {
            let answer = try await scene.api.send(method, path, bytes: body)
            #expect(answer.status == 413, "\(method) \(path)")
            #expect(answer.problem == .init(kind: "body-too-large"))
        }
        let batch = Array(repeating: UInt8(ascii: " "), count: (32 << 20) + 1)
        #expect(try await scene.api.send("POST", "/v1/jobs/batch", bytes: batch).status == 413)
        #expect(try await scene.isUntouched())
    }

    @Test func answers415UnlessBodyIsJSON() async throws {
        let scene = try await Scene()
        for (method, path) in Self.operations where ["POST", "PUT"].contains(method) {
            let answer = try await scene.api.send(method, path, [:], headers: [("Content-Type", "text/plain")])
            #expect(answer.status == 415, "\(method) \(path)")
            #expect(answer.problem == .init(kind: "unsupported-media-type"))
        }
    }

    @Test func answers431ForTooLargeHead() async throws {
        let scene = try await Scene()
        let value = String(repeating: "a", count: 9000)
        for (method, path) in Self.operations {
            let answer = try await scene.api.send(method, path, headers: [("X-Large", value)])
            #expect(answer.status == 431, "\(method) \(path)")
            #expect(answer.problem == .init(kind: "head-too-large") || method == "HEAD")
        }
    }

    @Test func answersHeadLikeGetWithoutBody() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        try await scene.api.declareWebhook("consumer", url: "https://consumer.example/")
        for (path, allow) in Self.paths where allow.contains("HEAD") {
            let path = path.replacing(Self.job, with: "/v1/jobs/\(id)")
            // An event between the requests would make the answer longer.
            let (get, head) = try await eventually("no change between the requests") {
                let (before, head) = (try await scene.api.get(path), try await scene.api.send("HEAD", path))
                let get = try await scene.api.get(path)
                return get.header("Content-Length") == before.header("Content-Length") ? (get, head) : nil
            }
            #expect(get.status == 200, "\(path)")
            #expect(head.status == 200, "\(path)")
            #expect(head.body.isEmpty)
            #expect(head.header("Content-Type") == get.header("Content-Type"))
            #expect(head.header("Content-Length") == get.header("Content-Length"), "\(path)")
        }
        let missing = try await scene.api.send("HEAD", "/v1/nothing")
        #expect(missing.status == 404)
        #expect(missing.body.isEmpty)
    }

    @Test func servesHealthAndOpenAPIDescription() async throws {
        let scene = try await Scene()
        #expect(try await scene.api.get("/livez").json == ["status": "alive"])
        #expect(try await scene.api.get("/readyz").json == ["status": "ready"])
        let description = try await scene.api.get("/openapi.yaml")
        #expect(description.header("Content-Type") == "application/yaml")
        let file = Project.root.appending(path: "openapi.yaml")
        #expect(description.text == (try String(contentsOf: file, encoding: .utf8)))
    }
}
