import Downloads
import Formats
import TestKit
import Testing

/// Several URLs of one file: the job tries the next when one fails permanently.
@Suite struct MirrorTests {
    private let bytes = Content.random(seed: 12, count: 600_000)

    private struct Stage {
        let fetchd: any TestedService
        let first: Origin
        let second: Origin

        var api: APIClient { fetchd.api }

        init(_ service: (any TestedService)? = nil) async throws {
            fetchd = if let service { service } else { try await LocalService.start() }
            (first, second) = (try Origin(), try Origin())
        }

        /// A job with the given URLs; each is tried twice, without long delays.
        func order(_ urls: [String], _ members: JSONObject = [:]) -> JSON {
            JSON.object(["urls": .strings(urls), "retry": ["base_seconds": 0.01, "max_attempts": 2]]).with(members)
        }

        var order: JSON { order([first.url("/f"), second.url("/f")]) }
    }

    // MARK: Trying the next URL

    @Test(arguments: [404, 403, 410, 401, 204]) func triesNextURLOnPermanentStatus(_ status: Int) async throws {
        let stage = try await Stage()
        stage.first.serve("/f", .fixed(status: status, body: status == 204 ? [] : Array("<h1>No</h1>".utf8)))
        stage.second.serve("/f", .file(bytes))
        let job = try await stage.api.waitForJob(stage.api.submit(stage.order), .succeeded)
        #expect(job["url"] == .string(stage.second.url("/f")))
        #expect(job["receipt"]["final_url"] == .string(stage.second.url("/f")))
        #expect(stage.fetchd.downloaded("f") == bytes)
        #expect(stage.first.requests.count == 1)
        #expect(stage.second.requests.count == 1)
        let waits = try await stage.api.events(of: job["id"].string).filter { $0["type"] == "job.waiting" }
        #expect(waits.map { $0["data"]["reason"] } == ["retry"])
    }

    /// A transient error is retried at the same URL first; every URL has the full number of attempts.
    @Test(arguments: [1, 2, 3]) func triesEachURLForAllItsAttempts(_ attempts: Int) async throws {
        let stage = try await Stage()
        stage.first.serve("/f", .fixed(status: 503))
        stage.second.serve("/f", .file(bytes), .answering(503).first(attempts - 1))
        let retry: JSON = ["base_seconds": 0.01, "max_attempts": .count(attempts)]
        let id = try await stage.api.submit(stage.order.with(["retry": retry]))
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.first.requests.count == attempts)
        #expect(stage.second.requests.count == attempts)
    }

    @Test func triesNextURLAfterRetriesOfRefusedConnection() async throws {
        let stage = try await Stage()
        stage.first.stop()
        stage.second.serve("/f", .file(bytes))
        let job = try await stage.api.waitForJob(stage.api.submit(stage.order), .succeeded)
        #expect(job["attempts"] == 3)
        #expect(stage.fetchd.downloaded("f") == bytes)
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func triesNextURLWhenCertificateIsNotTrusted() async throws {
        let (stage, server) = (try await Stage(), try await TLSOrigin())
        stage.second.serve("/f", .file(bytes))
        let urls = [server.url("/f"), stage.second.url("/f")]
        let job = try await stage.api.waitForJob(stage.api.submit(stage.order(urls)), .succeeded)
        #expect(job["attempts"] == 2)
        #expect(server.origin.requests.isEmpty)
    }

    @Test func waitsForURLOnlyAfterLastURLHasExpired() async throws {
        let stage = try await Stage()
        stage.first.serve("/f", .file(bytes), .closing(after: 300_000).once, .answering(403).on(2...))
        stage.second.serve("/f", .file(bytes), .answering(403).once)
        let id = try await stage.api.submit(stage.order.with(["wait_for": ["url"]]))
        let waiting = try await stage.api.waitForJob(id, .waiting, reason: "url")
        #expect(waiting["url"] == .string(stage.second.url("/f")))
        try await stage.api.change(id, ["url": .string(stage.second.url("/f"))])
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.fetchd.downloaded("f") == bytes)
    }

    // MARK: Parts

    @Test func resumesFromOffsetAtNextURLWithSameValidator() async throws {
        let stage = try await Stage()
        stage.first.serve("/f", .file(bytes), .closing(after: 300_000).once, .answering(404).on(2...))
        stage.second.serve("/f", .file(bytes))
        let job = try await stage.api.waitForJob(stage.api.submit(stage.order), .succeeded)
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": 300_000])
        #expect(stage.second.requests.map { $0.header("Range") } == ["bytes=300000-"])
        #expect(stage.second.requests.map { $0.header("If-Range") } == ["\"v1\""])
        #expect(stage.fetchd.downloaded("f") == bytes)
    }

    @Test func restartsAtNextURLWithAnotherValidator() async throws {
        let stage = try await Stage()
        let other = Content.random(seed: 13, count: 500_000)
        stage.first.serve("/f", .file(bytes), .closing(after: 300_000).once, .answering(404).on(2...))
        stage.second.serve("/f", .file(other, etag: "\"v2\""))
        let job = try await stage.api.waitForJob(stage.api.submit(stage.order), .succeeded)
        #expect(job["resume"] == ["decision": "restarted", "why": "etag_changed", "offset": 0])
        #expect(stage.fetchd.downloaded("f") == other)
    }

    @Test func neverAppendsErrorPageToPart() async throws {
        let stage = try await Stage()
        let page = Content.random(seed: 14, count: 400_000)
        stage.first.serve("/f", .file(bytes), .closing(after: 300_000).once, .answering(404, body: page).on(2...))
        stage.second.serve("/f", .fixed(status: 403, body: page))
        let third = stage.second.url("/third")
        stage.second.serve("/third", .file(bytes))
        let urls = [stage.first.url("/f"), stage.second.url("/f"), third]
        let job = try await stage.api.waitForJob(stage.api.submit(stage.order(urls)), .succeeded)
        #expect(job["resume"]["offset"] == 300_000)
        #expect(stage.fetchd.downloaded("f") == nil)
        #expect(stage.fetchd.downloaded("third") == bytes)
    }

    // MARK: After the last URL

    @Test func reportsFailureOfLastURLAndRetriesFromFirst() async throws {
        let stage = try await Stage()
        stage.first.serve("/f", .fixed(status: 404))
        stage.second.serve("/f", .file(bytes, etag: nil), .closing(after: 1000))
        let id = try await stage.api.submit(stage.order)
        let job = try await stage.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "truncated")
        #expect(job["failure"]["attempts"] == 3)
        #expect(job["url"] == .string(stage.second.url("/f")))

        // A retry starts with the first URL again.
        stage.first.serve("/f", .file(bytes))
        try await stage.api.act(.retry, on: id)
        let done = try await stage.api.waitForJob(id, .succeeded)
        #expect(done["url"] == .string(stage.first.url("/f")))
        #expect(stage.first.requests.count == 2)
        #expect(stage.fetchd.downloaded("f") == bytes)
    }

    @Test func keepsCurrentURLAfterKill() async throws {
        let fetchd = try await FetchdProcess.start()
        let stage = try await Stage(fetchd)
        let gate = Gate()
        stage.first.serve("/f", .fixed(status: 404))
        stage.second.serve("/f", .file(bytes), .waiting(at: 300_000, for: gate))
        let id = try await stage.api.submit(stage.order)
        try await stage.api.waitForBytes(id)
        try await fetchd.kill()
        gate.open()
        try await fetchd.restart()
        #expect(try await stage.api.waitForJob(id, .succeeded)["url"] == .string(stage.second.url("/f")))
        #expect(stage.first.requests.count == 1)
    }

    // MARK: Patched URL

    @Test func replacesAllURLsWithPatchedURL() async throws {
        let stage = try await Stage()
        for origin in [stage.first, stage.second] { origin.serve("/f", .fixed(status: 404)) }
        let id = try await stage.api.submit(stage.order)
        try await stage.api.waitForJob(id, .failed)
        stage.first.serve("/g", .fixed(status: 404))
        #expect(
            try await stage.api.change(id, ["url": .string(stage.first.url("/g"))])["url"]
                == .string(stage.first.url("/g")))
        try await stage.api.act(.retry, on: id)
        try await stage.api.waitForJob(id, .failed)
        #expect(stage.first.requests.map(\.path) == ["/f", "/g"])
        #expect(stage.second.requests.count == 1)
    }

    /// The running attempt still requests the old URL; its failure does not count against the new URL.
    @Test(arguments: [1, 2]) func ignoresFailureOfOldURLAfterPatch(_ addresses: Int) async throws {
        let (stage, gate) = (try await Stage(), Gate())
        stage.first.serve("/f", .fixed(status: 404), .waitingBeforeHead(for: gate))
        stage.second.serve("/g", .file(bytes))
        let urls = [stage.first.url("/f"), stage.second.url("/f")].prefix(addresses)
        let id = try await stage.api.submit(stage.order(Array(urls)))
        #expect(await gate.reached())
        try await stage.api.change(id, ["url": .string(stage.second.url("/g"))])
        gate.open()
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.second.requests.map(\.path) == ["/g"])
        #expect(stage.fetchd.downloaded("g") == bytes)
    }

    // MARK: Validation

    @Test func refusesInvalidURLs() async throws {
        let scene = try await Scene()
        let url = scene.origin.url("/file")
        let sixteen = (0..<17).map { scene.origin.url("/\($0)") }
        let cases: [(JSON, String, String)] = [
            (["urls": []], "invalid-value", "/urls"),
            (["urls": "x"], "invalid-value", "/urls"),
            (["urls": .strings([url, url])], "invalid-value", "/urls"),
            (["urls": .strings(sixteen)], "invalid-value", "/urls"),
            (["urls": .strings([url, "ftp://host/f"])], "invalid-value", "/urls/1"),
            (["urls": .strings([url]), "url": .string(url)], "invalid-value", "/urls"),
            ([:], "missing-field", "/url"),
        ]
        for (order, kind, pointer) in cases {
            let answer = try await scene.api.post("/v1/jobs", order)
            #expect(answer.status == 422)
            #expect(answer.problem == .init(kind: kind, pointer: pointer), "\(order.written)")
        }
        #expect(try await scene.isUntouched())
    }
}

extension APIClient {
    /// Waits until a job waits for a reason; fails early when the job ends.
    @discardableResult
    func waitForJob(_ id: String, _ state: JobState.Kind, reason: String) async throws -> JSON {
        let job = try await waitForJob(id, toBe: "\(state.rawValue) for \(reason)") { job in
            job["reason"].string == reason || ["succeeded", "failed", "cancelled"].contains(job["state"])
        }
        guard job["reason"].string == reason else { throw Overdue("The job has ended: \(job.written)") }
        return job
    }
}
