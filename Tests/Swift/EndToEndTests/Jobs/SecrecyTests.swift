import Formats
import Foundation
import TestKit
import Testing

/// Secrets are stored, and sent only to the servers they are meant for; no answer, event or log line shows them.
@Suite struct SecrecyTests {
    /// No secret contains another, and none occurs anywhere else by chance.
    private static let secrets = [
        "pw-basic-1", "pw-digest-2", "token-bearer-3", "header-auth-4", "header-key-5", "cookie-6", "pw-proxy-7",
        "session-header-8", "pw-url-9", "pw-patched-10",
    ]

    /// The secrets, and their encoded forms in `Authorization` fields.
    private static let forbidden =
        secrets
        + ["me:pw-basic-1", "me:pw-proxy-7", "me:pw-url-9", "me:pw-patched-10"].map {
            Data($0.utf8).base64EncodedString()
        }

    private static let signature = "signature-of-the-url"

    @Test(arguments: ["text", "json"]) func showsSecretsInNoAnswerEventOrLogLine(_ logFormat: String) async throws {
        let scene = try await Scene(
            process: .init(
                arguments: ["--log-level", "trace", "--log-format", logFormat, "--request-log"],
                token: "the-api-token"))
        let (api, origin, receiver) = (scene.api, scene.origin, try WebhookReceiver())
        let proxy = try TunnelProxy(demanding: "me:pw-proxy-7")
        try await api.declareSession(
            "films",
            [
                "headers": ["Authorization": "Bearer session-header-8", "X-Secret-Key": "session-header-8"],
                "proxy": .string("socks5://me:pw-proxy-7@127.0.0.1:\(proxy.port)"), "wait_for": ["credentials", "url"],
                "retry": ["max_attempts": 2, "base_seconds": 0.01],
            ])
        try await api.declareWebhook(of: "films", url: receiver.url, events: ["job.*", "session.*"])
        origin.serve("/basic", .file(scene.bytes), .demandingBasic("me", "pw-basic-1"))
        origin.serve("/digest", .file(scene.bytes), .demandingDigest(OriginDigest("me", "pw-digest-2")))
        origin.serve("/bearer", .file(scene.bytes), .demandingBearer("token-bearer-3"))
        origin.serve("/never", .fixed(status: 401, headers: [("WWW-Authenticate", "Basic realm=never")]))
        origin.serve("/moved", .redirect(to: "/broken?x=\(Self.signature)"))
        origin.serve("/broken", .file(scene.bytes), .closing(after: 100_000))
        origin.serve("/lost", .redirect(to: "ftp://me:pw-url-9@host/?x=\(Self.signature)"))
        func order(_ path: String, _ credentials: JSON) -> JSON {
            scene.order(
                path + "?x=\(Self.signature)", ("session", "films"), ("credentials", credentials),
                (
                    "headers",
                    ["X-Authorization": "header-auth-4", "X-Api-Key": "header-key-5", "Cookie": "id=cookie-6"]
                ))
        }
        let basic: JSON = ["type": "basic", "username": "me", "password": "pw-basic-1"]
        var answers: [APIAnswer] = []
        for job in [
            order("/basic", basic), order("/digest", ["type": "digest", "username": "me", "password": "pw-digest-2"]),
            order("/bearer", ["type": "bearer", "token": "token-bearer-3"]), order("/never", basic),
            order("/moved", basic), order("/lost", basic),
            JSON.object(["session": "films", "url": .string("http://me:pw-url-9@127.0.0.1:\(origin.port)/file")]),
            JSON.object(["session": "films", "url": .string("http://me:pw-url-9@127.0.0.1:1/file")]),
        ] { answers.append(try await api.post("/v1/jobs", job)) }
        let ids = answers.compactMap { $0.json["id"].string }
        #expect(ids.count == answers.count)
        // An error message does not quote a secret either.
        answers.append(
            try await api.post("/v1/jobs", order("/x", ["type": "basic", "username": "me", "token": "token-bearer-3"])))
        answers.append(
            try await api.post("/v1/jobs", order("/x", ["type": "bearer", "token": "token-bearer-3 \u{1}"])))
        answers.append(try await api.put("/v1/sessions/films2", ["proxy": "ftp://me:pw-proxy-7@127.0.0.1:1"]))

        for id in ids {
            try await api.waitForJob(id, toBe: "at rest") { job in
                !["queued", "running"].contains(job["state"]) && job["reason"] != "retry"
            }
        }
        let patched = ids[3]
        answers.append(
            try await api.patch(
                patched, ["credentials": ["type": "basic", "username": "me", "password": "pw-patched-10"]]))
        try await api.waitForJob(patched, toWaitFor: .credentials, attempts: 2)
        try await api.perform("cancel", onAllOf: "films")
        _ = try await receiver.waitFor("session.finished")

        for path in ids.flatMap({ ["/v1/jobs/\($0)", "/v1/jobs/\($0)/resume-data"] }) + [
            "/v1/jobs?limit=1000", "/v1/sessions", "/v1/sessions/films", "/v1/sessions/films/webhooks",
            "/v1/sessions/films/webhooks/receiver", "/v1/sessions/films/webhooks/receiver/deliveries",
            "/v1/events?limit=1000", "/metrics", "/v1/stats",
        ] { answers.append(try await api.get(path)) }
        let posted = receiver.received.map { String(decoding: $0.bytes, as: UTF8.self) }
        let events = answers.suffix(3).map(\.text)
        let shown = answers.map(\.text) + answers.flatMap { $0.headers.map(\.value) } + posted + [scene.fetchd.log]
        for secret in Self.forbidden + ["the-api-token"] {
            #expect(shown.allSatisfy { !$0.contains(secret) }, "\(secret)")
        }
        // The client sees the signature in the URL; events, webhooks and the log do not.
        #expect(answers[0].json["url"].string?.hasSuffix("?x=\(Self.signature)") == true)
        for text in posted + events + [scene.fetchd.log] { #expect(!text.contains(Self.signature)) }
        // The secrets did reach the servers they are meant for.
        #expect(origin.requests(to: "/basic").first?.header("X-Api-Key") == "header-key-5")
        for name in ["basic", "digest", "bearer"] { #expect(scene.fetchd.downloaded(name) == scene.bytes, "\(name)") }
    }
}
