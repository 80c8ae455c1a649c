import Foundation
import TestKit
import Testing

/// The pages of examples/web, served by another server than fetchd, in a real browser.
@Suite(.serialized, .enabled(BrowserStory.reason) { await BrowserStory.isPossible })
struct WebExampleTests {
    /// `python -m http.server`, as in examples/README.md.
    private struct Pages {
        let child: ChildProcess
        let origin: String

        init() async throws {
            let child = try await ChildProcess(
                Project.python,
                ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", Project.path("examples/web")])
            origin = try await eventually("the pages to be served") {
                if let ending = child.endingSoFar { throw Overdue("It ended (\(ending)): \(child.errors)") }
                return child.output.firstMatch(of: /port ([0-9]+) \(/).map { "http://127.0.0.1:\($0.1)" }
            }
            self.child = child
        }

        func address(_ page: String, of fetchd: FetchdProcess) -> String {
            "\(origin)/\(page).html?service=\(fetchd.baseURL)"
        }
    }

    private func story(_ name: String, _ arguments: [String]) async throws -> BrowserStory {
        try await BrowserStory(name, in: "examples.py", arguments)
    }

    /// Sets up a page that watches a download while the service is killed.
    private func watching(_ token: String? = nil, _ body: (Pages, FetchdProcess, Scenery) async throws -> Void)
        async throws
    {
        let pages = try await Pages()
        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--allow-origin", pages.origin], token: token, keepsPort: true))
        try await body(pages, fetchd, try Scenery())
    }

    private struct Scenery {
        let origin: Origin
        let bytes = Content.random(seed: 17, count: 400_000)
        private let quarter = Gate()
        private let half = Gate()

        init() throws {
            origin = try Origin()
            origin.serve(
                "/voyage.mkv", .file(bytes), .waiting(at: 100_000, for: quarter).once,
                .waiting(at: 200_000, for: half).once)
            origin.serve("/second.bin", .file(bytes))
        }

        /// Kills the service half way through the download, and restarts it when the page says that it is away.
        func kill(_ fetchd: FetchdProcess, under story: BrowserStory) async throws {
            try await story.said("a quarter")
            quarter.open()
            try await story.said("the half")
            try await fetchd.kill()
            try await story.said("away")
            try await fetchd.restart()
        }
    }

    @Test func pollingPageShowsDownloadAcrossKill() async throws {
        try await watching { pages, fetchd, scenery in
            let story = try await story(
                "polling", [pages.address("polling", of: fetchd), scenery.origin.url("/voyage.mkv")])
            try await scenery.kill(fetchd, under: story)
            try await story.ended()
            let isSame = fetchd.downloaded("voyage.mkv") == scenery.bytes
            #expect(isSame)
            // One click creates one job, although the service was killed.
            #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].count == 1)
        }
    }

    @Test func tenLinesShowDownloadAcrossKill() async throws {
        try await watching { pages, fetchd, scenery in
            let url = scenery.origin.url("/voyage.mkv")
            let story = try await story("progress", [pages.address("progress", of: fetchd) + "&url=\(url)"])
            try await scenery.kill(fetchd, under: story)
            try await story.ended()
            #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].count == 1)
        }
    }

    @Test(arguments: [nil, "correct-horse"])
    func eventsPageShowsEveryEventOnceAcrossKill(_ token: String?) async throws {
        try await watching(token) { pages, fetchd, scenery in
            // Events from before the page was opened are not shown as new.
            try await fetchd.api.declareSession("before")
            let story = try await story(
                "events",
                [pages.address("events", of: fetchd), scenery.origin.url("/voyage.mkv")] + (token.map { [$0] } ?? []))
            try await scenery.kill(fetchd, under: story)
            try await story.said("live")
            try await fetchd.api.submit(["url": .string(scenery.origin.url("/second.bin")), "session": "before"])
            try await story.ended()
            // The page shows every event once and in order, the newest first.
            let told = try #require(story.lines.first { $0.hasPrefix("ids ") }).split(separator: " ").dropFirst()
            #expect(
                told.reversed().map(String.init) == (try await fetchd.api.events().map { "\($0["id"].integer ?? 0)" }))
        }
    }

    @Test func refusesListsThatPagesSendWithoutPermission() async throws {
        let pages = try await Pages()
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--allow-origin", pages.origin]))
        try await story("lists", [pages.address("polling", of: fetchd), fetchd.baseURL]).ended()
        #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].count == 0)
    }

    @Test(arguments: ["polling", "events"])
    func explainsThatServiceDoesNotAllowPage(_ page: String) async throws {
        let pages = try await Pages()
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--allow-origin", "http://localhost:1"]))
        try await story("forbidden", [pages.address(page, of: fetchd)]).ended()
        #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].count == 0)
    }
}
