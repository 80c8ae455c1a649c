import Formats
import TestKit
import Testing

/// Answers show secrets in a redacted form. A client that sends this form back keeps the stored value.
@Suite struct RedactionTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    @Test func keepsHeadersAndProxyThatAreSentBackAsShown() async throws {
        let proxy = try TunnelProxy(demanding: "me:pw-proxy")
        let url = "socks5://me:pw-proxy@127.0.0.1:\(proxy.port)"
        let declared = try await api.declareSession(
            "films", ["headers": ["Authorization": "Bearer t0ken", "Accept": "video/mp4"], "proxy": .string(url)])
        let shown = declared["configuration"]
        #expect(shown["headers"]["Authorization"] == "[secret]" && shown["headers"]["Accept"] == "video/mp4")
        #expect(shown["proxy"] == .string("socks5://127.0.0.1:\(proxy.port)"))
        // As a client changes one member of the configuration that it has read.
        var changed = try #require(shown.objectValue)
        changed["priority"] = "high"
        changed["headers"] = ["authorization": "[secret]", "Accept": "video/webm"]
        let again = try await api.declareSession("films", .object(changed))
        #expect(again["configuration"]["priority"] == "high")
        let id = try await api.submit(scene.order("/file", ("session", "films")))
        try await api.waitForJob(id, .succeeded)
        let request = try #require(scene.origin.requests(to: "/file").first)
        #expect(request.header("Authorization") == "Bearer t0ken" && request.header("Accept") == "video/webm")
    }

    @Test func refusesAPlaceholderWithoutAStoredValue() async throws {
        for session in ["default", "new"] {
            let answer = try await api.put("/v1/sessions/\(session)", ["headers": ["Authorization": "[secret]"]])
            #expect(answer.status == 422)
            #expect(answer.problem == .init(kind: "invalid-value", pointer: "/headers/Authorization"))
        }
        #expect(try await api.get("/v1/sessions/new").status == 404)
        // It is no placeholder in a header that is no secret.
        try await api.declareSession("new", ["headers": ["X-Plain": "[secret]"]])
    }

    @Test func keepsTheURLOfAWebhookThatIsSentBackAsShown() async throws {
        let receiver = try WebhookReceiver()
        let url = receiver.url.replacing("http://", with: "http://me:pw-hook@") + "?key=pw-query"
        try await api.declareWebhook(url: url, events: ["job.created"])
        let path = "/v1/sessions/default/webhooks/receiver"
        let shown = try await api.get(path).json
        #expect(shown["url"] == .string(receiver.url + "?..."))
        let again = try await api.put(path, ["url": shown["url"], "events": ["job.succeeded"]])
        #expect(again.status == 200 && again.json["url"] == shown["url"] && again.json["secret"] == .null)
        let id = try await api.submit(scene.order())
        try await api.waitForJob(id, .succeeded)
        let posted = try await receiver.waitFor("job.succeeded")
        #expect(posted.request.target == "/hook?key=pw-query")
        #expect(posted.request.header("Authorization") != nil)
        // Another URL replaces it.
        _ = try await api.put(path, ["url": .string(receiver.url)])
        #expect(try await api.get(path).json["url"] == .string(receiver.url))
    }

    @Test func keepsTheURLOfAJobThatIsSentBackAsShown() async throws {
        scene.origin.serve("/protected", .file(scene.bytes), .demandingBasic("me", "pw-url"))
        let url = scene.origin.url("/protected").replacing("http://", with: "http://me:pw-url@") + "?a=b"
        let order: JSON = ["url": .string(url), "not_before": "2100-01-01T00:00:00Z"]
        for form in ["shown", "redacted"] {
            let id = try await api.submit(order)
            let shown = try #require(try await api.job(id)["url"].string)
            #expect(shown == scene.origin.url("/protected") + "?a=b")
            let sent = form == "shown" ? shown : scene.origin.url("/protected") + "?..."
            let patched = try await api.patch(id, ["url": .string(sent), "not_before": nil])
            #expect(patched.status == 200 && patched.json["url"].string == shown)
            try await api.waitForJob(id, .succeeded)
        }
        #expect(scene.origin.requests(to: "/protected").allSatisfy { $0.target == "/protected?a=b" })
    }
}
