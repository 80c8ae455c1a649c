import Formats
import Foundation
import TestKit
import Testing

/// Tokens from their creation to their end.
@Suite struct TokenLifeTests {
    @Test func secretIsShownOnlyOnce() async throws {
        let scene = try await Scene(.init(token: "first"))
        let answer = try await scene.api.post(
            "/v1/tokens",
            ["name": "films", "scope": "jobs", "sessions": ["films*", "a"], "expires_at": "2999-01-01T00:00:00Z"])
        #expect(answer.status == 201)
        #expect(answer.header("Cache-Control") == "no-store")
        let token = answer.json
        let (id, secret) = (try #require(token["id"].string), try #require(token["token"].string))
        #expect(answer.header("Location") == "tokens/\(id)")
        #expect(token["name"] == "films" && token["scope"] == "jobs" && token["sessions"] == ["films*", "a"])
        #expect(token["expires_at"] == "2999-01-01T00:00:00.000Z" && token["last_used_at"] == .null)
        let shown = try await scene.api.get("/v1/tokens/\(id)")
        #expect(shown.json["token"] == .null && shown.json["name"] == "films")
        let list = try await scene.api.get("/v1/tokens")
        #expect(list.json["tokens"].arrayValue?.map { $0["id"].string } == [id])
        for answer in [shown, list] { #expect(!answer.text.contains(secret)) }
        #expect(try await scene.api.with(token: secret).get("/v1/jobs").status == 200)
        #expect(try await scene.api.get("/v1/tokens/\(id)").json["last_used_at"] != .null)
    }

    @Test(
        arguments: [
            (["scope": "all"], "/scope"), ([:], "/scope"), (["scope": "read", "sessions": []], "/sessions"),
            (["scope": "read", "sessions": ["*"]], "/sessions"),
            (["scope": "read", "sessions": ["a", "a"]], "/sessions"),
            (["scope": "admin", "sessions": ["a"]], "/sessions"), (["scope": "read", "name": "a b"], "/name"),
            (["scope": "read", "expires_at": "2001-01-01T00:00:00Z"], "/expires_at"),
            (["scope": "read", "expires_at": 90], "/expires_at"), (["scope": "read", "role": "x"], "/role"),
        ] as [(JSON, String)])
    func refusesInvalidToken(_ body: JSON, _ pointer: String) async throws {
        let scene = try await Scene(.init(token: "first"))
        let answer = try await scene.api.post("/v1/tokens", body)
        #expect(answer.status == 422)
        #expect(answer.problem?.pointer == pointer)
        #expect(try await scene.api.get("/v1/tokens").json["tokens"].count == 0)
    }

    @Test func tokensSurviveRestart() async throws {
        let service = try await LocalService.start(.init(token: "first"))
        let token = try await service.api.createToken("read")["token"].string
        let revoked = try await service.api.createToken("read")
        #expect(try await service.api.delete("/v1/tokens/\(revoked["id"].string ?? "")").status == 204)
        try await service.restart()
        #expect(try await service.api.with(token: token).get("/v1/jobs").status == 200)
        #expect(try await service.api.with(token: revoked["token"].string).get("/v1/jobs").status == 401)
    }

    @Test func rotationKeepsTheTokenAndEndsTheOldSecret() async throws {
        let scene = try await Scene(.init(token: "first"))
        let old = try await scene.api.createToken("jobs", sessions: ["a"])
        let id = try #require(old["id"].string)
        func isAccepted(_ token: JSON) async throws -> Bool {
            try await scene.api.with(token: token["token"].string).get("/v1/jobs").status == 200
        }
        let second = try await scene.api.post("/v1/tokens/\(id)/rotate", ["overlap_seconds": 600])
        #expect(second.status == 200)
        #expect(second.json["id"].string == id && second.json["sessions"] == ["a"])
        #expect(second.json["former_token_until"] != .null)
        #expect(try await isAccepted(old))
        #expect(try await isAccepted(second.json))
        let third = try await scene.api.post("/v1/tokens/\(id)/rotate")
        #expect(third.json["former_token_until"] == .null)
        #expect(try await !isAccepted(old))
        #expect(try await !isAccepted(second.json))
        #expect(try await isAccepted(third.json))
        #expect(try await scene.api.post("/v1/tokens/\(id)/rotate", ["overlap_seconds": -1]).status == 422)
    }

    /// Without FETCHD_TOKEN, on loopback.
    @Test func firstAdministratorClosesTheService() async throws {
        let scene = try await Scene()
        let reader = try await scene.api.createToken("read")
        #expect(try await scene.api.get("/v1/jobs").status == 200)
        let admin = try await scene.api.createToken("admin")
        let refused = try await scene.api.get("/v1/jobs")
        #expect(refused.status == 401)
        #expect(refused.header("WWW-Authenticate") == "Bearer")
        let client = scene.api.with(token: admin["token"].string)
        #expect(try await client.delete("/v1/tokens/\(reader["id"].string ?? "")").status == 204)
        // The page and health stay open.
        for path in ["/", "/livez", "/readyz", "/openapi.yaml"] { #expect(try await scene.api.get(path).status == 200) }
        #expect(try await client.delete("/v1/tokens/\(admin["id"].string ?? "")").status == 204)
        #expect(try await scene.api.get("/v1/jobs").status == 200)
    }

    @Test func streamEndsWithItsToken() async throws {
        let scene = try await Scene(
            .init(token: "first") { $0.feed.heartbeat = .milliseconds(50) })
        let token = try await scene.api.createToken("read")
        let listener = try EventListener(to: scene.fetchd.port, token: token["token"].string)
        try await listener.wait(for: "heartbeats") { $0.heartbeats > 1 }
        _ = try await scene.api.delete("/v1/tokens/\(token["id"].string ?? "")")
        try await listener.wait(for: "the end") { $0.end == .orderly }
    }

    /// (The target, how the body is sent, the body.) The last one is empty, and ends as late as any other.
    @Test(arguments: [
        ("/v1/tokens", "Content-Length: 17", #"{"scope":"admin"}"#),
        ("/v1/jobs/job_1/pause", "Transfer-Encoding: chunked", "0\r\n\r\n"),
    ])
    func requestThatOutlivesItsTokenIsRefused(_ target: String, _ framing: String, _ body: String) async throws {
        let scene = try await Scene(.init(token: "first"))
        let token = try await scene.api.createToken("admin")
        let (id, secret) = (try #require(token["id"].string), try #require(token["token"].string))
        let request = try HeldRequest(
            to: scene.fetchd.port,
            head: [
                "POST \(target) HTTP/1.1", "Authorization: Bearer \(secret)", "Content-Type: application/json", framing,
            ])
        _ = try await eventually("the head to be admitted") {
            try await scene.api.get("/v1/tokens/\(id)").json["last_used_at"].string
        }
        #expect(try await scene.api.delete("/v1/tokens/\(id)").status == 204)
        let response = try await request.finish(body)
        #expect(response.hasPrefix("HTTP/1.1 401 "), "\(response)")
        #expect(response.lowercased().contains("www-authenticate: bearer error=\"invalid_token\""), "\(response)")
        #expect(try await scene.api.get("/v1/tokens").json["tokens"].count == 0)
        let entries = try await scene.api.get("/v1/audit").json["entries"].arrayValue ?? []
        let refusals = entries.filter { $0["outcome"] == "refused" }
        #expect(refusals.count == 1)
        #expect(refusals.first?["reason"] == "unauthorized" && refusals.first?["count"] == 1)
        #expect(refusals.first?["caller"] == .null)
    }

    @Test func secretsAreNotStored() async throws {
        let scene = try await Scene(.init(token: "first"))
        let token = try await scene.api.createToken("admin")
        let secret = try #require(token["token"].string)
        _ = try await scene.api.with(token: secret).get("/v1/tokens")
        try await scene.fetchd.stop()
        let folder = URL(filePath: scene.fetchd.folder.path("data"))
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let bytes = try Data(contentsOf: file)
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
        }
        #expect(!scene.fetchd.log.contains(secret))
    }
}
