import Formats
import Foundation
import TestKit
import Testing

/// Unique secrets are planted in every member that can hold one. Jobs succeed, fail, are redirected and wait, webhooks
/// fail and succeed, and the service is killed and started again. Afterwards no file of the data folder, no answer, no
/// stream, no posted event and no line of the log has a secret.
@Suite struct SecretsAtRestTests {
    /// Every planted secret contains it, and nothing else does.
    private static let mark = "planted"
    /// Base64 of "planted-secret-of-the-webhook", and of another text.
    private static let secrets = [
        "cGxhbnRlZC1zZWNyZXQtb2YtdGhlLXdlYmhvb2s=", "cGxhbnRlZC1uZXctc2VjcmV0LW9mLWl0LTMyYg==",
    ]
    private static let token = "planted-api-token"
    /// How credentials look in `Authorization` and `Proxy-Authorization`.
    private static let encoded = [
        "planted-user:planted-password", "planted-user:planted-basic", "planted-user:planted-proxy",
    ]
    .map { Data($0.utf8).base64EncodedString() }

    private static var forbidden: [String] { [mark] + secrets + encoded }

    private let scene: Scene
    private let receiver: WebhookReceiver
    private let refusing: WebhookReceiver

    init() async throws {
        (receiver, refusing) = (try WebhookReceiver(), try WebhookReceiver())
        scene = try await Scene(
            process: .init(
                arguments: ["--log-level", "trace", "--webhook-retry-delays", "0,0.01,3600"], token: Self.token))
    }

    private var api: APIClient { scene.api }

    private func expectHidden(_ texts: [(name: String, text: String)], _ location: SourceLocation = #_sourceLocation) {
        for (name, text) in texts {
            for secret in Self.forbidden {
                guard let found = text.firstRange(of: secret) else { continue }
                let start = text.index(found.lowerBound, offsetBy: -60, limitedBy: text.startIndex) ?? text.startIndex
                Issue.record("\(name) has \(secret): \(text[start..<found.upperBound])", sourceLocation: location)
            }
        }
    }

    /// The database, its log and index, the mark, and the names of all files.
    private func expectFilesHidden(_ location: SourceLocation = #_sourceLocation) {
        let folder = scene.fetchd.folder
        for file in folder.files where !file.hasPrefix("downloads/") {
            let text = String(decoding: folder.bytes(of: file) ?? [], as: Unicode.ASCII.self)
            expectHidden([(file, text)], location)
        }
        expectHidden([("the names of files", folder.files.joined(separator: "\n"))], location)
    }

    private func declareSession() async throws {
        try await api.declareSession(
            "films",
            [
                "headers": [
                    "Authorization": "Bearer planted-session", "Cookie": "id=planted-cookie", "X-Plain": "shown-header",
                ],
                "wait_for": ["credentials", "url"], "retry": ["max_attempts": 2, "base_seconds": 0.01],
            ])
        try await api.declareSession(
            "proxied", ["proxy": "http://planted-user:planted-proxy@127.0.0.1:1", "retry": ["max_attempts": 1]])
    }

    private func declareWebhooks() async throws {
        for (name, receiver) in [("taking", receiver), ("refusing", refusing)] {
            let url = receiver.url.replacing("http://", with: "http://planted-user:planted-password@")
            let answer = try await api.put(
                "/v1/sessions/films/webhooks/\(name)",
                [
                    "url": .string(url + "?planted-query=planted-hook"), "events": ["job.*", "session.*"],
                    "headers": ["X-Tenant": "planted-tenant"], "secret": .string("whsec_" + Self.secrets[0]),
                ])
            #expect(answer.status == 201)
        }
        // The endpoint repeats the request in its answer.
        refusing.answer { received in
            let request = received.request
            let headers = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            return OriginAnswer(status: 500, body: Array("\(request.target)\n\(headers)".utf8))
        }
    }

    private func order(_ path: String, _ members: (String, JSON)...) -> JSON {
        let url = scene.origin.url(path).replacing("http://", with: "http://planted-user:planted-password@")
        var order: JSONObject = [
            "session": "films", "url": .string(url + "?signature=planted-query"),
            "headers": ["X-Api-Key": "planted-key", "Cookie": "id=planted-cookie"],
        ]
        for (name, value) in members { order[name] = value }
        return .object(order)
    }

    private func serve() {
        let origin = scene.origin
        origin.serve("/moved", .redirect(to: "/file?planted-redirect"))
        origin.serve("/secret", .file(scene.bytes), .demandingBearer("planted-bearer"))
        origin.serve("/never", .fixed(status: 401, headers: [("WWW-Authenticate", "Basic realm=never")]))
        origin.serve("/lost", .redirect(to: "ftp://planted-user:planted-password@host/?planted-redirect"))
        origin.serve("/login", .file(scene.bytes))
    }

    private func submit() async throws -> [String: String] {
        var jobs: [String: String] = [:]
        let mirror = scene.origin.url("/file?planted-mirror")
        for (name, order) in [
            "plain": order("/file"), "moved": order("/moved"), "missing": order("/missing"), "lost": order("/lost"),
            "bearer": order("/secret", ("credentials", ["type": "bearer", "token": "planted-bearer"])),
            "never": order(
                "/never", ("credentials", ["type": "basic", "username": "planted-user", "password": "planted-basic"])),
            "form": order("/login", ("method", "POST"), ("form", ["password": "planted-form"])),
            "body": order("/login", ("method", "PUT"), ("body", "planted-body")),
            "json": order("/login", ("method", "PATCH"), ("json", ["token": "planted-json"])),
            "mirrored": [
                "session": "films",
                "urls": [.string(scene.origin.url("/missing?planted-mirror")), .string(mirror)],
            ],
            "held": order("/held"),
            "proxied": ["session": "proxied", "url": .string(scene.origin.url("/file?planted-query"))],
        ] as [String: JSON] {
            let headers = [("Idempotency-Key", "key-\(name)")]
            let answer = try await api.send("POST", "/v1/jobs", order, headers: headers)
            let id: String = try #require(answer.json["id"].string, "\(answer)")
            jobs[name] = id
        }
        return jobs
    }

    /// What the lists and documents show, without the jobs, whose own URLs are shown to their client.
    private func shown(_ jobs: [String: String]) async throws -> [(name: String, text: String)] {
        var shown: [(name: String, text: String)] = []
        let hooks = "/v1/sessions/films/webhooks"
        for path in [
            "/v1/sessions", "/v1/sessions/films", "/v1/sessions/proxied", hooks, "\(hooks)/taking", "\(hooks)/refusing",
            "\(hooks)/taking/deliveries?limit=100", "\(hooks)/refusing/deliveries?limit=100", "/v1/events?limit=1000",
            "/v1/stats", "/metrics", "/readyz", "/openapi.yaml",
        ] {
            let answer = try await api.get(path)
            #expect(answer.status == 200, "\(path): \(answer.status)")
            shown.append((path, answer.text))
            shown.append(
                ("the head of \(path)", answer.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")))
        }
        // A job shows its own URL, and its receipt the redirects, to those who may change the job. Nothing else.
        for (name, id) in jobs {
            for path in ["/v1/jobs/\(id)", "/v1/jobs/\(id)/resume-data"] {
                let text = try await api.get(path).text
                shown.append((name, text.replacing(/\?(signature=)?planted-(query|redirect|mirror)/, with: "")))
            }
        }
        return shown
    }

    @Test func noSecretIsFoundAnywhere() async throws {
        serve()
        try await declareSession()
        try await declareWebhooks()
        let listener = try EventListener(to: scene.fetchd.port, "session=films", token: Self.token)
        let jobs = try await submit()
        for name in ["plain", "moved", "bearer", "form", "body", "json", "mirrored"] {
            try await api.waitForJob(try #require(jobs[name]), .succeeded)
        }
        try await api.waitForJob(try #require(jobs["missing"]), toWaitFor: .url)
        for name in ["proxied", "lost"] { try await api.waitForJob(try #require(jobs[name]), .failed) }
        let never = try #require(jobs["never"])
        try await api.waitForJob(never, toWaitFor: .credentials)
        let held = try #require(jobs["held"])
        try await api.waitForBytes(held)
        let rotated = try await api.post(
            "/v1/sessions/films/webhooks/taking/rotate-secret", ["secret": .string("whsec_" + Self.secrets[1])])
        #expect(rotated.status == 200)
        _ = try await refusing.waitFor("job.created", count: 2)

        var log = scene.fetchd.log
        expectFilesHidden()
        try await scene.process.kill()
        expectFilesHidden()
        log += scene.fetchd.log
        try await scene.process.restart()
        // The secrets are there again.
        scene.gate.open()
        try await api.waitForJob(held, .succeeded)
        let patched = try await api.patch(never, ["headers": ["Authorization": "Basic planted-patched"]])
        #expect(patched.status == 200)
        try await api.waitForJob(never, toWaitFor: .credentials, attempts: 2)
        let again = try await api.send(
            "POST", "/v1/jobs", order("/file"), headers: [("Idempotency-Key", "key-plain")])
        #expect(again.json["id"].string == jobs["plain"])
        try await api.perform("cancel", onAllOf: "films")
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.isSigned(with: "whsec_" + Self.secrets[1]))
        #expect(finish.request.header("X-Tenant") == "planted-tenant")
        #expect(finish.request.target == "/hook?planted-query=planted-hook")
        #expect(
            scene.origin.requests(to: "/login").map { String(decoding: $0.body, as: UTF8.self) }.contains(
                "planted-body"))
        #expect(
            scene.origin.requests(to: "/file").allSatisfy {
                $0.header("X-Plain") == "shown-header" || $0.header("Cookie") == nil
            })

        expectFilesHidden()
        expectHidden(try await shown(jobs))
        let posted = (receiver.received + refusing.received).map { String(decoding: $0.bytes, as: UTF8.self) }
        expectHidden(posted.map { ("a posted event", $0) })
        expectHidden(listener.state.current.messages.map { ("the stream", $0.data.written) })
        log += scene.fetchd.log
        expectHidden([("the log", log)])
        try await scene.process.stop()
        expectFilesHidden()
        // The test can fail: the secrets were stored.
        #expect(scene.fetchd.folder.files.contains("data/fetchd.key"))
        guard TestStore.server == nil else { return }
        let database = String(
            decoding: scene.fetchd.folder.bytes(of: "data/fetchd.sqlite") ?? [], as: Unicode.ASCII.self)
        #expect(database.contains("sealed:1:") && database.contains("shown-header"))
    }

    @Test func mistakesShowNoSecret() async throws {
        try await declareSession()
        var answers: [APIAnswer] = []
        for body in [
            order("/x", ("credentials", ["type": "bearer", "token": "planted \u{1}"])),
            order("/x", ("credentials", ["type": "basic", "username": "a:planted", "password": "planted"])),
            order("/x", ("headers", ["X-Key": "planted\u{0}"])), order("/x", ("form", ["planted-field": 1])),
        ] { answers.append(try await api.post("/v1/jobs", body)) }
        answers.append(try await api.put("/v1/sessions/other", ["proxy": "ftp://planted:planted@127.0.0.1:1"]))
        answers.append(try await api.put("/v1/sessions/films/webhooks/a", ["url": "https://planted:planted@/?planted"]))
        answers.append(
            try await api.put("/v1/sessions/films/webhooks/a", ["url": "https://host/", "secret": "whsec_planted"]))
        answers.append(
            try await APIClient(baseURL: scene.fetchd.baseURL, token: "planted-wrong").get("/v1/jobs"))
        #expect(answers.allSatisfy { [401, 422].contains($0.status) }, "\(answers)")
        expectHidden(
            answers.map {
                (
                    "an answer",
                    $0.text.replacing("/form/planted-field", with: "").replacing("`form.planted-field`", with: "")
                )
            })
        expectHidden([("the log", scene.fetchd.log)])
    }

    /// man 5 proc: "Max core file size" of /proc/PID/limits, soft and hard, in bytes.
    @Test(arguments: [false, true]) func dumpsNoCoreUnlessAllowed(_ isAllowed: Bool) async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: isAllowed ? ["--allow-core-dumps"] : []))
        let limits = try String(contentsOfFile: "/proc/\(fetchd.pid)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(line.split(separator: " ").dropFirst(4).prefix(2).elementsEqual(["1", "1"]) != isAllowed, "\(line)")
    }
}
