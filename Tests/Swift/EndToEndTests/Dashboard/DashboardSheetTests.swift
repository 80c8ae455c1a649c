import Formats
import TestKit
import Testing

/// The sheets of the dashboard, its words for rare causes and its first steps, in a real browser. Each test sets the scene for a
/// story in Tests/Browser/sheets.py.
@Suite(.serialized, .enabled(BrowserStory.reason) { await BrowserStory.isPossible })
struct DashboardSheetTests {
    private static let rehearsals = FetchdProcess.Options(arguments: ["--enable-rehearsals"])

    private func tell(_ name: String, _ arguments: String...) async throws {
        try await BrowserStory(name, in: "sheets.py", arguments).ended()
    }

    @Test func rendersDescriptions() async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        try await tell("rendering", fetchd.baseURL)
    }

    /// A download leads to its deliveries, a delivery to its download, and a session to its webhooks.
    @Test func linksDownloadsSessionsAndWebhooks() async throws {
        let (fetchd, receiver) = (try await FetchdProcess.start(Self.rehearsals), try WebhookReceiver())
        try await fetchd.api.declareSession("films")
        let webhook: JSON = ["url": .string(receiver.url), "events": ["job.*"]]
        #expect(try await fetchd.api.put("/v1/sessions/films/webhooks/receiver", webhook).status == 201)
        let job = try await fetchd.api.submit(["url": "rehearse:film.bin?size=10", "session": "films"])
        try await fetchd.api.waitForJob(job, .succeeded)
        try await tell("sheets", fetchd.baseURL, job)
    }

    @Test func saysWhatIsMissingAndLeadsToIt() async throws {
        let (fetchd, receiver) = (try await FetchdProcess.start(Self.rehearsals), try WebhookReceiver())
        for session in ["one", "two"] {
            try await fetchd.api.declareSession(session, ["acknowledgement": "expected", "finish_delay_seconds": 0])
            let webhook: JSON = ["url": .string(receiver.url), "events": ["webhook.disabled"]]
            #expect(try await fetchd.api.put("/v1/sessions/\(session)/webhooks/idle", webhook).status == 201)
            let job = try await fetchd.api.submit(["url": "rehearse:film.bin?size=10", "session": .string(session)])
            try await fetchd.api.waitForJob(job, .succeeded)
        }
        try await tell("remedying", fetchd.baseURL)
    }

    @Test(arguments: ["beginning", "hurrying"]) func beginsQuietlyAndStaysQuiet(_ story: String) async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        try await tell(story, fetchd.baseURL)
    }

    @Test(arguments: ["charting", "reading_rows"]) func showsWhatRuns(_ story: String) async throws {
        let fetchd = try await FetchdProcess.start(Self.rehearsals)
        _ = try await fetchd.api.submit(["url": "rehearse:film.bin?size=30000000&seconds=300"])
        try await tell(story, fetchd.baseURL)
    }
}
