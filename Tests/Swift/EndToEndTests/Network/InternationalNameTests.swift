import Formats
import TestKit
import Testing

/// Host names beyond ASCII, as curl and browsers accept them. Names below `localhost` need no resolver.
@Suite struct InternationalNameTests {
    private let bytes = Content.random(seed: 51, count: 50_000)

    @Test(arguments: ["b\u{FC}cher", "B\u{DC}CHER", "b%C3%BCcher", "xn--bcher-kva"])
    func downloadsFromInternationalHost(_ name: String) async throws {
        let scene = try await Scene()
        let ascii = "http://xn--bcher-kva.localhost:\(scene.origin.port)/file"
        let id = try await scene.api.submit(["url": .string("http://\(name).localhost:\(scene.origin.port)/file")])
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
        #expect(job["url"] == .string(ascii))
        #expect(job["receipt"]["final_url"] == .string(ascii))
        #expect(scene.origin.requests.last?.header("Host") == "xn--bcher-kva.localhost:\(scene.origin.port)")
    }

    @Test func followsRedirectToInternationalHost() async throws {
        let scene = try await Scene()
        let target = "//b\u{FC}cher.localhost:\(scene.origin.port)/file"
        scene.origin.serve("/moved", .redirect(to: "http:" + target))
        scene.origin.serve("/wrong", .redirect(to: "http://\u{2100}.localhost/file"))
        let job = try await scene.api.waitForJob(scene.api.submit(scene.order("/moved")), .succeeded)
        #expect(job["receipt"]["final_url"] == .string("http://xn--bcher-kva.localhost:\(scene.origin.port)/file"))
        let wrong = try await scene.api.waitForJob(scene.api.submit(scene.order("/wrong")), .failed)
        #expect(wrong["failure"]["code"] == "bad_url")
    }

    /// Both spellings are one host: for limits, for pins, and as mirrors.
    @Test func treatsBothSpellingsAsOneHost() async throws {
        let scene = try await Scene()
        let spellings = ["http://b\u{FC}cher.example/f", "http://XN--bcher-kva.example/f"]
        let mirrors = try await scene.api.post(
            "/v1/jobs", ["urls": .strings([spellings[0], "http://xn--bcher-kva.example/f"])])
        #expect(mirrors.status == 422)
        #expect(mirrors.json["pointer"] == "/urls")
        let key = JSON.string(String(repeating: "A", count: 43) + "=")
        try await scene.api.declareSession("s", ["tls": ["pinned_public_keys": ["B\u{FC}cher.example": [key]]]])
        let configuration = try await scene.api.session("s")["configuration"]
        #expect(configuration["tls"]["pinned_public_keys"]["xn--bcher-kva.example"] == [key])
    }

    @Test(arguments: ["\u{301}x.example", "-\u{FC}-.example", "a..b", "\u{2100}.example", "a%2Fb"])
    func refusesHostThatCannotBeAName(_ host: String) async throws {
        let scene = try await Scene()
        let url = JSON.string("http://\(host)/f")
        let job = try await scene.api.post("/v1/jobs", ["url": url])
        #expect(job.status == 422)
        #expect(job.json["pointer"] == "/url")
        let batch = try await scene.api.post("/v1/jobs/batch", ["jobs": [["urls": ["http://host/f", url]]]])
        #expect(batch.json["pointer"] == "/jobs/0/urls/1")
        let webhook = try await scene.api.put("/v1/sessions/default/webhooks/w", ["url": url])
        #expect(webhook.status == 422)
        #expect(webhook.json["pointer"] == "/url")
    }

    @Test func deliversToInternationalWebhookAddress() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let url = receiver.url.replacing("127.0.0.1", with: "b\u{FC}cher.localhost")
        let declared = try await scene.api.put(
            "/v1/sessions/default/webhooks/w", ["url": .string(url), "events": ["job.*"]])
        #expect(declared.json["url"] == .string(receiver.url.replacing("127.0.0.1", with: "xn--bcher-kva.localhost")))
        try await scene.api.waitForJob(scene.api.submit(scene.order()), .succeeded)
        _ = try await receiver.waitFor(count: 1)
    }

    /// A URL that libcurl refuses is skipped, and the mirror after it is used.
    @Test func usesMirrorAfterNameThatDoesNotExist() async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit([
            "urls": ["http://xn--zzzzzzzz99999.invalid/file", .string(scene.origin.url("/file"))],
            "retry": ["max_attempts": 1],
        ])
        try await scene.api.waitForJob(id, .succeeded)
    }
}
