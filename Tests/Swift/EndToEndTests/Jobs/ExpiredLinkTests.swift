import Formats
import TestKit
import Testing

/// Links that expire during a download (`wait_for: ["url"]`): the part is kept until the client patches the URL.
@Suite struct ExpiredLinkTests {
    private static let page = Array("<h1>This link has expired.</h1>".utf8)

    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    /// The first response breaks off after 120,000 bytes; later requests get an error page.
    private func expire(_ status: Int, headers: [(name: String, value: String)] = []) {
        let page = OriginResource.fixed(status: status, headers: headers, body: Self.page)
        scene.origin.serve("/old", .file(scene.bytes), .closing(after: 120_000).once, .serving(page).on(2...))
    }

    private func submit(waitFor reasons: [String]) async throws -> String {
        try await api.submit(
            scene.order("/old?signature=1", ("wait_for", .strings(reasons)), ("retry", ["base_seconds": 0.01])))
    }

    private var part: [UInt8]? {
        scene.fetchd.folder.files.first { $0.hasSuffix(".part") }.flatMap(scene.fetchd.folder.bytes(of:))
    }

    @Test(arguments: [401, 403, 404, 410])
    func waitsForURLAndResumesFromOffset(_ status: Int) async throws {
        expire(status)
        let id = try await submit(waitFor: ["url"])
        let job = try await api.waitForJob(id, toWaitFor: .url)
        #expect(job["retry_at"] == .null)
        #expect(job["challenge"] == .null)
        #expect(job["progress"]["bytes_durable"] == 120_000)
        let told = try #require(try await api.events(of: id).last)
        #expect(told["type"] == "job.waiting")
        #expect(told["data"]["reason"] == "url")
        #expect(told["data"]["failure"]["code"] == "link_expired")
        #expect(told["data"]["failure"]["status"].integer == Int64(status))
        // The part has no byte of the error page.
        #expect(part == Array(scene.bytes.prefix(120_000)))
        try await scene.expectStoredParts([120_000])

        let patched = try await api.change(id, ["url": .string(scene.origin.url("/file?signature=2"))])
        #expect(["queued", "running"].contains(patched["state"]))
        #expect(patched["reason"] == .null)
        let done = try await api.waitForJob(id, .succeeded)
        #expect(done["resume"] == ["decision": "resumed", "why": nil, "offset": 120_000])
        let request = try #require(scene.origin.requests(to: "/file").first)
        #expect(request.target == "/file?signature=2")
        #expect(request.header("Range") == "bytes=120000-")
        #expect(request.header("If-Range") == "\"v1\"")
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
        #expect(done["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
        try await scene.expectStoredParts([])
    }

    @Test func restartsWhenNewURLServesAnotherFile() async throws {
        expire(403)
        let other = Content.random(seed: 8, count: 200_000)
        scene.origin.serve("/new", .file(other, etag: "\"v2\""))
        scene.origin.serve("/careless", .file(other, etag: nil), .ignoringConditions)
        for (path, why) in [("/new", "etag_changed"), ("/careless", "no_validator")] {
            expire(403)
            let id = try await submit(waitFor: ["url"])
            try await api.waitForJob(id, toWaitFor: .url)
            try await api.change(id, ["url": .string(scene.origin.url(path))])
            let job = try await api.waitForJob(id, .succeeded)
            #expect(job["resume"] == ["decision": "restarted", "why": .string(why), "offset": 0])
            let told = try await api.events(of: id).filter { $0["type"] == "job.restarted" }
            #expect(told.map { $0["data"]["why"].string } == [why])
            #expect(scene.fetchd.downloaded(String(path.dropFirst())) == other)
        }
        try await scene.expectStoredParts([])
    }

    @Test(.realProcess) func waitsForURLAgainWhenNewURLHasExpiredToo() async throws {
        expire(403)
        let id = try await submit(waitFor: ["url"])
        let before = try await api.waitForJob(id, toWaitFor: .url)
        scene.origin.serve("/older", .fixed(status: 410, body: Self.page))
        try await api.change(id, ["url": .string(scene.origin.url("/older"))])
        let attempts = (before["attempts"].integer ?? 0) + 1
        try await api.waitForJob(id, toWaitFor: .url, attempts: attempts)
        #expect(part == Array(scene.bytes.prefix(120_000)))
        // Only a new URL ends the wait, and a kill of the service loses nothing.
        for changes: JSON in [
            ["metadata": ["n": 1]], ["priority": "high"], ["credentials": ["type": "bearer", "token": "t"]],
        ] {
            #expect(try await api.change(id, changes)["state"] == "waiting")
        }
        try await scene.process.kill()
        try await scene.process.restart()
        let after = try await api.job(id)
        #expect(after["state"] == "waiting")
        #expect(after["reason"] == "url")
        try await api.change(id, ["url": .string(scene.origin.url("/file"))])
        #expect(try await api.waitForJob(id, .succeeded)["resume"]["offset"] == 120_000)
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
    }

    @Test(arguments: [401, 403, 404, 410])
    func failsWithLinkExpiredAndKeepsPartUnlessWaitingForURL(_ status: Int) async throws {
        expire(status)
        let id = try await submit(waitFor: ["credentials", "space"])
        let job = try await api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "link_expired")
        #expect(job["failure"]["status"].integer == Int64(status))
        #expect(job["failure"]["attempts"] == 2)
        #expect(part == Array(scene.bytes.prefix(120_000)))
        try await api.change(id, ["url": .string(scene.origin.url("/file"))])
        #expect(try await api.job(id)["state"] == "failed")
        try await api.act(.retry, on: id)
        #expect(try await api.waitForJob(id, .succeeded)["resume"]["offset"] == 120_000)
    }

    /// A signed link can expire in the queue, before the first request.
    @Test(arguments: [401, 403, 404, 410])
    func waitsForURLWhenFirstRequestFindsLinkExpired(_ status: Int) async throws {
        scene.origin.serve("/old", .fixed(status: status, body: Self.page))
        let id = try await submit(waitFor: ["url", "credentials"])
        let job = try await api.waitForJob(id, toWaitFor: .url)
        #expect(job["cause"]["code"] == "link_expired")
        #expect(job["cause"]["status"].integer == Int64(status))
        try await scene.expectStoredParts([])
        try await api.change(id, ["url": .string(scene.origin.url("/file?signature=2"))])
        let done = try await api.waitForJob(id, .succeeded)
        #expect(done["cause"] == .null)
        #expect(done["resume"]["decision"] == "fresh")
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
    }

    /// The client asks for the wait while the request runs that finds the link expired.
    @Test func waitsForURLWhenPatchedDuringTheAttempt() async throws {
        let gate = Gate()
        scene.origin.serve("/old", .fixed(status: 403, body: Self.page), .waitingBeforeHead(for: gate).once)
        let id = try await submit(waitFor: [])
        #expect(await gate.reached())
        try await api.change(id, ["wait_for": ["url"]])
        gate.open()
        #expect(try await api.waitForJob(id, toWaitFor: .url)["cause"]["code"] == "link_expired")
    }

    @Test(arguments: [401, 403, 404, 410])
    func failsWithBadStatusWithoutBytesUnlessWaitingForURL(_ status: Int) async throws {
        scene.origin.serve("/old", .fixed(status: status, body: Self.page))
        let id = try await submit(waitFor: ["credentials"])
        let job = try await api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "bad_status")
        #expect(job["failure"]["status"].integer == Int64(status))
        try await scene.expectStoredParts([])
        #expect(scene.fetchd.downloaded("old") == nil)
    }

    /// A 401 with a challenge asks for credentials; it does not mean that the link has expired.
    @Test func failsWithCredentialsRequiredInsteadOfLinkExpiredWhenChallenged() async throws {
        expire(401, headers: [("WWW-Authenticate", "Bearer")])
        let id = try await submit(waitFor: ["url"])
        #expect(try await api.waitForJob(id, .failed)["failure"]["code"] == "credentials_required")
        #expect(part == Array(scene.bytes.prefix(120_000)))
    }
}
