import Configuration
import Formats
import Foundation
import TestKit
import Testing

/// `GET /v1/audit` and `fetchd audit`.
@Suite struct AuditLogTests {
    private func entries(_ client: APIClient, after: Int64 = 0) async throws -> [JSON] {
        try await client.get("/v1/audit?after=\(after)").json["entries"].arrayValue ?? []
    }

    @Test func administrativeChangesAreLogged() async throws {
        let scene = try await Scene(.init(token: "first"))
        let api = scene.api
        let token = try await api.createToken("sessions", sessions: ["films*"], ("name", "editor"))
        let id = try #require(token["id"].string)
        let editor = api.with(token: token["token"].string)
        try await editor.declareSession("films")
        try await editor.declareSession("films")
        try await editor.declareWebhook("hook", of: "films", url: scene.origin.url("/hook"))
        _ = try await editor.post("/v1/sessions/films/webhooks/hook/rotate-secret")
        _ = try await editor.delete("/v1/sessions/films/webhooks/hook")
        _ = try await editor.delete("/v1/sessions/films")
        _ = try await api.post("/v1/tokens/\(id)/rotate")
        _ = try await api.delete("/v1/tokens/\(id)")
        let entries = try await entries(api)
        #expect(
            entries.map { "\($0["action"].string ?? "") \($0["target"].string ?? "-")" } == [
                "POST /v1/tokens \(id)", "PUT /v1/sessions/{session} films",
                "PUT /v1/sessions/{session}/webhooks/{webhook} films/hook",
                "POST /v1/sessions/{session}/webhooks/{webhook}/rotate-secret films/hook",
                "DELETE /v1/sessions/{session}/webhooks/{webhook} films/hook", "DELETE /v1/sessions/{session} films",
                "POST /v1/tokens/{id}/rotate \(id)", "DELETE /v1/tokens/{id} \(id)",
            ])
        for entry in entries {
            #expect(entry["outcome"] == "done" && entry["reason"] == .null && entry["address"] == "127.0.0.1")
        }
        #expect(entries[0]["caller"] == "FETCHD_TOKEN" && entries[0]["name"] == .null)
        #expect(entries[1]["caller"].string == id && entries[1]["name"] == "editor")
    }

    @Test func refusalsAreCountedWithoutSecrets() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init(token: "first") { $0.time = time })
        let reader = try await scene.api.createToken("read", ("quotas", ["requests_per_second": 1]))
        let id = try #require(reader["id"].string)
        for _ in 0..<3 { _ = try await scene.api.with(token: "s3cret-guess").get("/v1/jobs/s3cret-path?q=s3cret") }
        #expect(try await scene.api.with(token: reader["token"].string).post("/v1/jobs", [:]).status == 403)
        #expect(try await scene.api.with(token: reader["token"].string).get("/v1/jobs").status == 429)
        let misdirected = try await scene.api.get("/v1/jobs", headers: [("Host", "s3cret.example")])
        #expect(misdirected.status == 421)
        let answer = try await scene.api.get("/v1/audit?after=1")
        #expect(!answer.text.contains("s3cret") && !answer.text.contains(reader["token"].string ?? ""))
        let refusals = answer.json["entries"].arrayValue ?? []
        func refusal(_ reason: String) -> JSON? { refusals.first { $0["reason"].string == reason } }
        #expect(refusals.count == 4)
        #expect(refusal("unauthorized")?["count"] == 3)
        #expect(refusal("unauthorized")?["caller"] == .null)
        #expect(refusal("unauthorized")?["action"] == "GET /v1/jobs/{id}")
        #expect(refusal("forbidden")?["caller"].string == id)
        #expect(refusal("forbidden")?["action"] == "POST /v1/jobs")
        #expect(refusal("quota-exceeded")?["caller"].string == id)
        #expect(refusal("misdirected-request")?["action"] == "request")
        #expect(refusals.allSatisfy { $0["outcome"] == "refused" })
        // The next page begins after the last entry.
        let next = try #require(answer.json["next_after"].integer)
        #expect(try await entries(scene.api, after: next).isEmpty)
    }

    @Test func addressIsThatOfTheClientBehindATrustedProxy() async throws {
        let proxies = try TrustedProxies(["127.0.0.0/8", "10.0.0.0/8"])
        let scene = try await Scene(.init(token: "first") { $0.start.values.trustedProxies = proxies })
        let fields = [("X-Forwarded-For", "1.2.3.4, 203.0.113.9, 10.0.0.2")]
        _ = try await scene.api.with(token: "wrong").get("/v1/jobs", headers: fields)
        _ = try await scene.api.send("PUT", "/v1/sessions/films", [:], headers: fields)
        _ = try await scene.api.declareSession("shows")
        let addresses = try await entries(scene.api).map { $0["address"].string }
        #expect(
            addresses.count { $0 == "203.0.113.9" } == 2 && addresses.count { $0 == "127.0.0.1" } == 1, "\(addresses)")
    }

    @Test func addressOfAnyOtherProxyIsItsOwn() async throws {
        let scene = try await Scene(.init(token: "first"))
        _ = try await scene.api.with(token: "wrong").get("/v1/jobs", headers: [("X-Forwarded-For", "203.0.113.9")])
        #expect(try await entries(scene.api).map { $0["address"].string } == ["127.0.0.1"])
    }

    @Test func refusalsSurviveARestart() async throws {
        let service = try await LocalService.start(.init(token: "first"))
        #expect(try await service.api.with(token: "wrong").get("/v1/jobs").status == 401)
        try await service.restart()
        #expect(try await entries(service.api).map { $0["reason"].string } == ["unauthorized"])
    }

    @Test func commandPrintsTheLog() async throws {
        let cli = try await CommandLineScene()
        #expect(try await cli.run("audit").errors.contains("The audit log has no entries."))
        try await cli.api.declareSession("films")
        let printed = try await cli.run("audit")
        #expect(printed.output.contains("PUT /v1/sessions/{session}, films"), "\(printed)")
        let document = try await cli.run("audit", "--json", "--limit", "1")
        #expect(document.json["entries"].count == 1 && document.json["next_after"] == 1)
    }
}
