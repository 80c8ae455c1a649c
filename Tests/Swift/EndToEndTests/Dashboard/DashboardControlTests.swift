import Formats
import TestKit
import Testing

/// What a person controls with the dashboard, in a real browser. Each test sets the scene for a story in
/// Tests/Browser/controls.py.
@Suite(.serialized, .enabled(BrowserStory.reason) { await BrowserStory.isPossible })
struct DashboardControlTests {
    private static let rehearsals = FetchdProcess.Options(arguments: [
        "--enable-rehearsals", "--webhook-retry-delays", "0,0.1,0.1",
    ])

    private func tell(_ name: String, _ arguments: String...) async throws {
        try await BrowserStory(name, in: "controls.py", arguments).ended()
    }

    /// Jobs that `not_before` keeps queued.
    private func orders(_ count: Int, _ address: String, session: String = "default") -> JSON {
        let orders: [JSON] = (0..<count).map {
            [
                "url": .string("http://127.0.0.1:1/\(address)-\($0).bin"), "session": .string(session),
                "not_before": "2999-01-01T00:00:00Z",
            ]
        }
        return ["jobs": .array(orders)]
    }

    /// Many downloads are selected by pointer and by keyboard, and acted on at once.
    @Test func selectsManyDownloadsAndActsOnThemAtOnce() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        #expect(try await fetchd.api.post("/v1/jobs/batch", orders(30, "later")).status == 201)
        let failing: [JSON] = (0..<7).map { ["url": .string("rehearse:gone-\($0).bin?status=404")] }
        #expect(try await fetchd.api.post("/v1/jobs/batch", ["jobs": .array(failing)]).status == 201)
        try await tell("selecting", fetchd.baseURL)
        let (low, limited) = (
            try await fetchd.api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue?.filter { $0["priority"] == "low" },
            try await fetchd.api.get("/v1/sessions/default").json["configuration"]["rate_limit_bytes_per_second"]
        )
        #expect(low?.count == 3)
        #expect(limited == 524_288)
    }

    @Test func sortsByAnyColumnAndFilters() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        _ = try await fetchd.api.put("/v1/sessions/films", [:])
        #expect(try await fetchd.api.post("/v1/jobs/batch", orders(3, "film", session: "films")).status == 201)
        for size in [3000, 1000, 2000] {
            let id = try await fetchd.api.submit(["url": .string("rehearse:part-\(size).bin?size=\(size)")])
            try await fetchd.api.waitForJob(id, .succeeded)
        }
        try await tell("sorting", fetchd.baseURL)
    }

    @Test(arguments: ["linking", "typing_keys"]) func hasAddressesAndKeys(_ story: String) async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        _ = try await fetchd.api.put("/v1/sessions/films", [:])
        #expect(try await fetchd.api.post("/v1/jobs/batch", orders(3, "film", session: "films")).status == 201)
        #expect(try await fetchd.api.post("/v1/jobs/batch", orders(3, "other")).status == 201)
        try await tell(story, fetchd.baseURL)
    }

    @Test func declaresChangesAndDeletesSessions() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        try await fetchd.api.declareSession("default", ["acknowledgement": "expected"])
        let finished = try await fetchd.api.submit(["url": "rehearse:done.bin?size=10"])
        try await fetchd.api.waitForJob(finished, .succeeded)
        try await tell("organising", fetchd.baseURL)
        let kept = try await fetchd.api.get("/v1/sessions/films").json["configuration"]
        #expect(kept["headers"]["Authorization"] == "[secret]" && kept["max_concurrent_jobs"] == 3)
        #expect(try await fetchd.api.get("/v1/sessions/spare").status == 404)
        #expect(try await fetchd.api.get("/v1/sessions/default").json["unacknowledged_since"] == .null)
    }

    @Test func declaresTestsAndDeletesWebhooks() async throws {
        let (fetchd, receiver) = (try await FetchdProcess.start(Self.rehearsals), try WebhookReceiver())
        // These are all attempts of the first delivery.
        receiver.answer(500, body: "Not now.", to: 1...3)
        _ = try await fetchd.api.put("/v1/consumers/indexer", ["events": ["webhook.test", "job.*"]])
        try await tell("posting", fetchd.baseURL, receiver.url)
        #expect(try await fetchd.api.get("/v1/consumers").json["consumers"].arrayValue?.isEmpty == true)
        #expect(try await fetchd.api.get("/v1/sessions/default/webhooks").json["webhooks"].arrayValue?.isEmpty == true)
    }

    /// Pasted, dropped and read from files; wrong lines are named before anything is sent.
    @Test func takesAddressesFromEverywhere() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        try await tell("bringing", fetchd.baseURL)
        let jobs = try await fetchd.api.get("/v1/jobs").json["jobs"].arrayValue ?? []
        #expect(jobs.count == 5)
        #expect(jobs.contains { $0["priority"] == "high" && $0["tags"] == ["a", "b"] })
    }

    /// Expired links, credentials, failures and webhooks, each with the action that ends it.
    @Test func showsWhatNeedsAPersonWithItsRemedy() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        let origin = try Origin()
        for name in ["/one", "/two"] {
            origin.serve(name, .file(Content.random(seed: 3, count: 1000)), .demandingBasic("ada", "lovelace"))
        }
        try await tell("needing", fetchd.baseURL, origin.url("/one"), origin.url("/two"))
    }

    /// One line for the server, with the number of downloads that wait for it.
    @Test func showsAServerThatRefusesRequests() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let refusal = OriginBehaviour.answering(429, headers: [("Retry-After", "3600")])
        origin.serve("/order", .file(Content.random(seed: 3, count: 1000)), refusal.once)
        try await tell("refusing", fetchd.baseURL, origin.url("/order"))
    }

    @Test func isUsableWithTenThousandDownloadsAndFiftySessions() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        for number in 0..<49 { _ = try await fetchd.api.put("/v1/sessions/group-\(number)", [:]) }
        for session in 0..<10 {
            let batch = orders(1000, "file-\(session)", session: "group-\(session)")
            #expect(try await fetchd.api.post("/v1/jobs/batch", batch).status == 201)
        }
        try await tell("largest", fetchd.baseURL)
    }

    @Test func offersCallersOnlyWhatTheyMayDo() async throws {
        let fetchd = try await FetchdProcess.start(.init(token: "correct-horse"))
        #expect(try await fetchd.api.post("/v1/jobs/batch", orders(2, "later")).status == 201)
        let answer = try await fetchd.api.post("/v1/tokens", ["scope": "jobs", "sessions": ["default"]])
        try await tell("limited", fetchd.baseURL, try #require(answer.json["token"].string))
    }

    /// Below another path of another host's page, as behind a reverse proxy.
    @Test func worksBelowAnyPath() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        try await tell("below_a_path", fetchd.baseURL)
    }

    @Test func showsTheThroughputOfTheLastHourAndWeek() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        try await tell("looking_back", fetchd.baseURL)
    }

    @Test func changesTheSettingsOfTheService() async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--log-level", "info"]))
        try await tell("configuring", fetchd.baseURL)
        let settings = try await fetchd.api.get("/v1/service").json
        #expect(settings["rate_limit_bytes_per_second"] == 20_971_520 && settings["max_concurrent_jobs"] == 16)
        #expect(settings["allow_network"] == ["10.0.0.0/8", "127.0.0.0/8"])
    }

    /// The accessibility checks of each view and form, in light and dark, and on a phone.
    @Test func viewsAndFormsPassAccessibilityChecks() async throws {
        let (fetchd, receiver) = (try await FetchdProcess.start(Self.rehearsals), try WebhookReceiver())
        receiver.answer(503, body: "Not now.")
        try await fetchd.api.declareWebhook(url: receiver.url, events: ["job.*"])
        try await fetchd.api.submit(["url": "rehearse:gone.bin?status=404"])
        try await fetchd.api.submit(["url": "rehearse:secret.bin?status=401", "wait_for": ["credentials"]])
        #expect(try await fetchd.api.post("/v1/jobs/batch", orders(120, "later")).status == 201)
        // The checks run 36 times.
        try await BrowserStory("views", in: "controls.py", [fetchd.baseURL]).ended(atMost: .seconds(600))
    }
}
