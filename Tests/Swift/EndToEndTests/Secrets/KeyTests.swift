import Formats
import Foundation
import TestKit
import Testing

/// The key of a real service: where it comes from, its change, and its loss.
@Suite(.onSQLite) struct KeyTests {
    private let origin: Origin
    private let receiver: WebhookReceiver
    private let folder: TemporaryFolder
    private let bytes = Content.random(seed: 9, count: 50_000)

    init() throws {
        (origin, receiver, folder) = (try Origin(), try WebhookReceiver(), try TemporaryFolder())
        origin.serve("/secret", .file(bytes), .demandingBearer("t0ken"))
        origin.serve("/plain", .file(bytes))
    }

    private static let hook = "/v1/sessions/default/webhooks/receiver"
    private static let bearer: JSON = ["type": "bearer", "token": "t0ken"]

    /// A service with a webhook and a job that begins when it is patched.
    ///
    /// - Returns: the job, and the secret of the webhook.
    private func plant(in fetchd: FetchdProcess) async throws -> (job: String, secret: String) {
        let secret = try await fetchd.api.declareWebhook(
            url: receiver.url + "?key=pw", events: ["job.succeeded", "webhook.disabled"])
        let job = try await fetchd.api.submit([
            "url": .string(origin.url("/secret?a=b")), "credentials": Self.bearer, "not_before": "2100-01-01T00:00:00Z",
        ])
        return (job, secret)
    }

    private func expectUsable(_ planted: (job: String, secret: String), _ fetchd: FetchdProcess) async throws {
        #expect(try await fetchd.api.patch(planted.job, ["not_before": nil]).status == 200)
        try await fetchd.api.waitForJob(planted.job, .succeeded)
        let posted = try await receiver.waitFor("job.succeeded")
        #expect(posted.isSigned(with: planted.secret) && posted.request.target == "/hook?key=pw")
        #expect(origin.requests(to: "/secret").last?.target == "/secret?a=b")
    }

    private func rotate(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await FetchdProcess.run(["rotate-key", "--data-dir", folder.path("data")] + arguments)
    }

    private func writeKey(_ name: String, text: String? = nil, mode: mode_t = 0o600) throws -> String {
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let path = try folder.write((text ?? key) + "\n", to: name)
        chmod(path, mode)
        return path
    }

    private func serve(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await FetchdProcess.run(
            [
                "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
                folder.path("d"),
            ]
                + arguments)
    }

    @Test func changesTheKey() async throws {
        var fetchd = try await FetchdProcess.start(in: folder)
        let planted = try await plant(in: fetchd)
        let before = folder.bytes(of: "data/fetchd.key")
        let refused = try await rotate()
        #expect(refused.ending == .exited(1) && refused.errors.contains("another fetchd that is running"))
        try await fetchd.stop()
        let rotated = try await rotate()
        #expect(rotated.succeeded && rotated.output.contains("new key"), "\(rotated.errors)")
        let after = folder.bytes(of: "data/fetchd.key")
        #expect(after != before && after?.count == before?.count)
        fetchd = try await FetchdProcess.start(in: folder)
        try await expectUsable(planted, fetchd)
    }

    /// SIGKILL at moments that spread over the whole command. After each of them the service starts, and the command can
    /// be repeated.
    @Test func theServiceStartsAfterAKilledRotation() async throws {
        var fetchd = try await FetchdProcess.start(in: folder)
        let planted = try await plant(in: fetchd)
        let many = (0..<2000).map {
            JSON.object(["url": .string("http://127.0.0.1:1/\($0)?a=b"), "not_before": "2100-01-01T00:00:00Z"])
        }
        try await fetchd.api.submit(all: many)
        try await fetchd.stop()
        var endings: [ChildProcess.Ending] = []
        for milliseconds in stride(from: 20, through: 400, by: 20) {
            let child = try await ChildProcess(
                FetchdProcess.program, ["rotate-key", "--data-dir", folder.path("data")])
            let deadline = ContinuousClock.now + .milliseconds(milliseconds)
            while ContinuousClock.now < deadline, child.endingSoFar == nil { await Task.yield() }
            child.signal(SIGKILL)
            endings.append(try await child.waitForEnd())
            let keys = folder.bytes(of: "data/fetchd.key").map { String(decoding: $0, as: UTF8.self) } ?? ""
            #expect(keys.split(separator: "\n").count >= 1)
        }
        #expect(endings.contains(.killed(signal: SIGKILL)))
        let last = try await rotate()
        #expect(last.succeeded, "\(last.errors)")
        fetchd = try await FetchdProcess.start(in: folder)
        try await expectUsable(planted, fetchd)
        let keys = folder.bytes(of: "data/fetchd.key").map { String(decoding: $0, as: UTF8.self) }
        #expect(keys?.split(separator: "\n").count == 1)
    }

    @Test func takesTheKeyFromAFileOrACommand() async throws {
        let key = try writeKey("key")
        var fetchd = try await FetchdProcess.start(.init(arguments: ["--key-file", key]), in: folder)
        let planted = try await plant(in: fetchd)
        #expect(!folder.files.contains("data/fetchd.key"))
        try await fetchd.stop()
        for (arguments, sentence) in [
            (["--key-file", try writeKey("other")], "sealed with another key"),
            (["--key-file", try writeKey("open", mode: 0o644)], "chmod 600"),
            (["--key-file", folder.path("none")], "There is no key file"),
            (["--key-file", try writeKey("short", text: "c2hvcnQ=")], "must contain a key"),
            (["--key-command", "false"], "has failed"),
            (["--key-command", "cat \(folder.path("other"))"], "sealed with another key"),
        ] {
            let refused = try await FetchdProcess.run(
                ["serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data")] + arguments)
            #expect(refused.ending == .exited(1), "\(arguments)")
            #expect(refused.errors.contains(sentence), "\(refused.errors)")
        }
        let both = try await serve("--key-file", key, "--key-command", "cat \(key)")
        #expect(both.ending == .exited(64) && both.errors.contains("both set"))
        fetchd = try await FetchdProcess.start(
            .init(environment: ["FETCHD_KEY_COMMAND": "cat \(key)"]), in: folder)
        try await expectUsable(planted, fetchd)
    }

    @Test func changesTheKeyOfAKeyFile() async throws {
        let (key, new) = (try writeKey("key"), try writeKey("new"))
        var fetchd = try await FetchdProcess.start(.init(arguments: ["--key-file", key]), in: folder)
        let planted = try await plant(in: fetchd)
        try await fetchd.stop()
        let former = folder.bytes(of: "key")
        let refused = try await rotate("--key-command", "cat \(key)")
        #expect(refused.ending == .exited(1) && refused.errors.contains("--new-key-file"))
        let random = try await rotate("--key-file", key)
        #expect(random.succeeded && folder.bytes(of: "key") != former, "\(random.errors)")
        let given = try await rotate("--key-file", key, "--new-key-file", new)
        #expect(given.succeeded && given.output.contains("--key-file \(new)"), "\(given.errors)")
        fetchd = try await FetchdProcess.start(.init(arguments: ["--key-file", new]), in: folder)
        try await expectUsable(planted, fetchd)
    }

    /// The key is lost with the machine, and a backup of the database is restored on another one.
    @Test func goesOnWithoutTheKeyOfARestoredBackup() async throws {
        let first = try await FetchdProcess.start()
        let planted = try await plant(in: first)
        let plain = try await first.api.submit([
            "url": .string(origin.url("/plain")), "not_before": "2100-01-01T00:00:00Z",
        ])
        try await first.stop()
        let restored = try await FetchdProcess.run([
            "restore", first.folder.path("data/fetchd.sqlite"), "--data-dir", folder.path("data"),
        ])
        #expect(restored.succeeded, "\(restored.errors)")
        let refused = try await serve()
        #expect(refused.ending == .exited(1) && !folder.files.contains("data/fetchd.key"))
        for errors in [restored.errors, refused.errors] {
            #expect(errors.contains("the key file \(folder.path("data/fetchd.key")) is missing"), "\(errors)")
            #expect(errors.contains("--accept-lost-secrets"), "\(errors)")
        }
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--accept-lost-secrets"]), in: folder)
        #expect(fetchd.log.contains("fetchd makes a new key") && fetchd.log.contains("disabled 1 webhooks"))
        for id in [planted.job, plain] {
            #expect(try await fetchd.api.patch(id, ["not_before": nil]).status == 200)
        }
        try await fetchd.api.waitForJob(plain, .succeeded)
        let job = try await fetchd.api.waitForJob(planted.job, toWaitFor: .credentials)
        #expect(job["url"] == .string(origin.url("/secret") + "?..."))
        #expect(job["cause"]["code"] == "credentials_required")
        #expect(
            job["cause"]["message"]
                == "The key that sealed the secrets of this job is lost. Supply them with PATCH: url, credentials.")
        #expect(origin.requests(to: "/secret").isEmpty)
        let patched = try await fetchd.api.patch(
            planted.job, ["url": .string(origin.url("/secret?a=b")), "credentials": Self.bearer])
        #expect(patched.status == 200)
        try await fetchd.api.waitForJob(planted.job, .succeeded)

        let webhook = try await fetchd.api.get(Self.hook).json
        #expect(webhook["state"] == "disabled" && webhook["url"] == .string(receiver.url + "?..."))
        #expect(webhook["disabled_reason"] == "The key that sealed its secrets is lost.")
        #expect(try await fetchd.api.post(Self.hook + "/enable").status == 409)
        #expect(try await fetchd.api.put(Self.hook, ["url": webhook["url"]]).status == 409)
        let declared = try await fetchd.api.put(
            Self.hook, ["url": .string(receiver.url + "?key=pw"), "events": ["job.succeeded"]])
        let secret = try #require(declared.json["secret"].string)
        #expect(declared.status == 201 && secret != planted.secret)
        try await fetchd.api.waitForJob(fetchd.api.submit(["url": .string(origin.url("/plain"))]), .succeeded)
        #expect(try await receiver.waitFor("job.succeeded").isSigned(with: secret))
    }

    @Test func acceptsAnotherKeyAfterTheLostOneIsGivenUp() async throws {
        let key = try writeKey("key")
        var fetchd = try await FetchdProcess.start(.init(arguments: ["--key-file", key]), in: folder)
        _ = try await plant(in: fetchd)
        try await fetchd.stop()
        let new = try writeKey("new")
        #expect(try await serve("--key-file", new).ending == .exited(1))
        let given = try await rotate("--lost")
        #expect(given.succeeded, "\(given.errors)")
        fetchd = try await FetchdProcess.start(.init(arguments: ["--key-file", new]), in: folder)
        #expect(try await fetchd.api.get(Self.hook).json["state"] == "disabled")
    }
}
