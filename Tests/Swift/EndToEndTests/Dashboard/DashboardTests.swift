import Downloads
import Formats
import TestKit
import Testing

/// The dashboard in a real browser. Each test sets the scene for a story in Tests/Browser/stories.py, which types and
/// looks.
@Suite(.serialized, .enabled(BrowserStory.reason) { await BrowserStory.isPossible })
struct DashboardTests {
    private let bytes = Content.random(seed: 11, count: 400_000)

    /// The user submits a download, and sees its progress and its end across a restart of the service, on one page.
    @Test func showsDownloadAcrossRestartWithoutReload() async throws {
        let fetchd = try await FetchdProcess.start(.init(token: "correct-horse", keepsPort: true))
        let (origin, quarter, half) = (try Origin(), Gate(), Gate())
        origin.serve(
            "/voyage.mkv", .file(bytes), .waiting(at: 100_000, for: quarter).once, .waiting(at: 200_000, for: half).once
        )
        let story = try await BrowserStory("typing", fetchd.baseURL, "correct-horse", origin.url("/voyage.mkv"))
        try await story.said("a quarter")
        quarter.open()
        try await story.said("the half")
        try await fetchd.kill()
        try await story.said("away")
        try await fetchd.restart()
        try await story.ended()
        #expect(fetchd.downloaded("voyage.mkv") == bytes)
    }

    @Test func staysSignedInByChoice() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(token: "correct-horse")), try Origin())
        origin.serve("/film.mkv", .file(bytes))
        try await fetchd.api.waitForJob(fetchd.api.submit(["url": .string(origin.url("/film.mkv"))]), .succeeded)
        try await BrowserStory("signing_in", fetchd.baseURL, "correct-horse", "film.mkv").ended()
    }

    @Test func showsReadersNoButtonThatChangesSomething() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(token: "correct-horse")), try Origin())
        origin.serve("/film.mkv", .file(bytes))
        try await fetchd.api.waitForJob(fetchd.api.submit(["url": .string(origin.url("/film.mkv"))]), .succeeded)
        let token = try #require(try await fetchd.api.post("/v1/tokens", ["scope": "read"]).json["token"].string)
        try await BrowserStory("reading", fetchd.baseURL, token, "film.mkv").ended()
    }

    @Test func showsMistakesAndPerformsActions() async throws {
        let (fetchd, origin, gate) = (try await FetchdProcess.start(), try Origin(), Gate())
        origin.serve("/good.bin", .file(bytes))
        origin.serve("/flaky.bin", .file(bytes), .answering(404).once)
        origin.serve("/held.bin", .file(bytes), .waiting(at: 100_000, for: gate))
        let story = try await BrowserStory(
            "driving", fetchd.baseURL, origin.url("/good.bin"), origin.url("/flaky.bin"), origin.url("/held.bin"),
            SHA.hexadecimal(of: bytes))
        try await story.ended()
        let jobs = try await fetchd.api.get("/v1/jobs").json["jobs"]
        #expect(jobs.count == 2)
    }

    @Test func keepsTheFocusInARowThatMoves() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let names = ["anvil.bin", "brass.bin", "cedar.bin"]
        for name in names {
            origin.serve("/" + name, .file(bytes))
            try await fetchd.api.waitForJob(fetchd.api.submit(["url": .string(origin.url("/" + name))]), .succeeded)
        }
        try await BrowserStory("sorting", fetchd.baseURL, names[0], names[1], names[2]).ended()
    }

    @Test func suppliesNewURLForExpiredLink() async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"]))
        try await fetchd.api.submit([
            "url": "rehearse:film.mkv?size=3000000&lose_at=1000000&then=403", "wait_for": ["url"],
            "retry": ["base_seconds": 0.01],
        ])
        try await BrowserStory("supplying", fetchd.baseURL, "rehearse:film.mkv?size=3000000").ended()
    }

    /// Text from servers and clients is shown as text; a failing endpoint is shown, and the user sends the delivery
    /// again.
    @Test func showsHostileTextAsTextAndRedeliversWebhook() async throws {
        let (fetchd, origin, receiver) = (try await FetchdProcess.start(), try Origin(), try WebhookReceiver())
        let answer = "<script>window.owned=1</script><img src=x onerror=window.owned=1>"
        receiver.answer(500, body: answer)
        try await fetchd.api.declareWebhook(url: receiver.url, events: ["job.succeeded"])
        origin.serve("/file", .file(bytes))
        let name = "<img src=x onerror=window.owned=1>.bin"
        try await fetchd.api.submit([
            "url": .string(origin.url("/file")), "metadata": ["note": "<b>bold</b>"],
            "destination": ["filename": .string(name)], "tags": ["<script>window.owned=1</script>"],
        ])
        let story = try await BrowserStory("hostile", fetchd.baseURL, name, answer)
        try await story.said("failing")
        receiver.answer(204)
        try await story.ended()
    }

    /// The story controls the stream: it is silent, sends events, ends and is opened again.
    @Test func followsEventStreamAndReconnects() async throws {
        let (fetchd, origin, gate) = (try await FetchdProcess.start(), try Origin(), Gate())
        origin.serve("/held.bin", .file(bytes), .waiting(at: 100_000, for: gate))
        origin.serve("/second.bin", .file(bytes))
        let held = try await fetchd.api.submit(["url": .string(origin.url("/held.bin"))])
        try await fetchd.api.waitForBytes(held)
        try await BrowserStory("streaming", fetchd.baseURL, held, origin.url("/second.bin")).ended()
    }

    @Test func parsesEventStreamCutAtAnyByte() async throws {
        let fetchd = try await FetchdProcess.start()
        try await BrowserStory("parsing", fetchd.baseURL).ended()
    }

    /// The story answers the requests itself, in an order that a service reaches only now and then.
    @Test func catchesUpWithEventsDuringReadings() async throws {
        let fetchd = try await FetchdProcess.start()
        try await BrowserStory("catching_up", fetchd.baseURL).ended()
    }

    @Test func listsOverThousandDownloads() async throws {
        let fetchd = try await FetchdProcess.start()
        let orders: [JSON] = (0..<1234).map {
            ["url": .string("http://127.0.0.1:1/number-\($0).bin"), "not_before": "2999-01-01T00:00:00Z"]
        }
        #expect(try await fetchd.api.post("/v1/jobs/batch", ["jobs": .array(orders)]).status == 201)
        try await BrowserStory("many", fetchd.baseURL, "1234", "number-7.bin").ended()
    }

    @Test func showsWhatRunsAndWhatTheServiceMeasuredOnAPhone() async throws {
        let (fetchd, origin, gate) = (try await FetchdProcess.start(), try Origin(), Gate())
        origin.serve("/held.bin", .file(bytes), .waiting(at: 100_000, for: gate))
        try await fetchd.api.waitForBytes(fetchd.api.submit(["url": .string(origin.url("/held.bin"))]))
        let orders: [JSON] = (0..<300).map {
            ["url": .string("http://127.0.0.1:1/number-\($0).bin"), "not_before": "2999-01-01T00:00:00Z"]
        }
        #expect(try await fetchd.api.post("/v1/jobs/batch", ["jobs": .array(orders)]).status == 201)
        try await BrowserStory("lately", fetchd.baseURL, "held.bin").ended()
    }

    @Test func showsManyRowsAndKeepsStill() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        origin.serve("/missing.bin", .fixed(status: 404))
        origin.serve(
            "/film.mkv", .file(Content.random(seed: 3, count: 4_000_000)), .limited(bytesPerSecond: 40_000))
        let later: [JSON] = (0..<40).map {
            ["url": .string("http://127.0.0.1:1/next-\($0).mkv"), "not_before": "2999-01-01T00:00:00Z"]
        }
        let running = Array(repeating: ["url": .string(origin.url("/film.mkv"))] as JSON, count: 6)
        let missing: JSON = ["url": .string(origin.url("/missing.bin"))]
        let jobs = [missing] + running + later
        #expect(try await fetchd.api.post("/v1/jobs/batch", ["jobs": .array(jobs)]).status == 201)
        try await BrowserStory("quiet", fetchd.baseURL).ended()
    }

    @Test func passesAccessibilityChecks() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        receiver.answer(503, body: "Not now.")
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.*"])
        for state in JobState.Kind.allCases { _ = try await scene.job(in: state) }
        try await BrowserStory("accessible", scene.fetchd.baseURL).ended()
    }
}
