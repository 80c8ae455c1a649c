import Formats
import Foundation
import TestKit
import Testing

/// `GET /v1/events?wait=`: long polling for a page.
@Suite struct EventWaitTests {
    @Test func endsWaitWithFirstEvent() async throws {
        let scene = try await Scene()
        let last = try await scene.lastEvent
        async let news = scene.api.get("/v1/events?after=\(last)&wait=30")
        try await scene.untilWatched()
        let id = try await scene.api.submit(scene.order("/file", ("not_before", "2999-01-01T00:00:00Z")))
        let page = try await news.json
        #expect(page["events"].arrayValue?.map { $0["type"] } == ["job.created"])
        #expect(page["events"][0]["job"].string == id)
        #expect(page["events"].arrayValue == (try await scene.api.events(of: id)))
        #expect(page["next_after"] == page["events"][0]["id"])
    }

    /// Existing events are returned at once; events outside the filter do not end a wait.
    @Test func endsWaitOnlyWithMatchingEvent() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos")
        let id = try await scene.job(in: .failed)
        let last = try await scene.lastEvent
        #expect(try await scene.api.get("/v1/events?after=0&wait=30").json["events"].count > 0)
        #expect(
            try await scene.api.get("/v1/events?after=0&wait=30&job=\(id)&type=job.failed").json["events"].count == 1)
        async let photo = scene.api.get("/v1/events?after=\(last)&wait=30&session=photos&type=job.paused")
        async let retried = scene.api.get("/v1/events?after=\(last)&wait=30&job=\(id)&type=job.started")
        try await scene.untilWatched(by: 2)
        let other = try await scene.job(in: .paused)
        _ = try await scene.api.post("/v1/jobs/\(id)/retry")
        #expect(try await retried.json["events"][0]["job"].string == id)
        try await scene.untilWatched(by: 1)
        let held = try await scene.heldJob(("session", "photos"))
        _ = try await scene.api.post("/v1/jobs/\(held)/pause")
        #expect(try await photo.json["events"][0]["job"].string == held)
        #expect(other != held)
    }

    @Test func answersEmptyPageWhenWaitEnds() async throws {
        let scene = try await Scene()
        _ = try await scene.job(in: .paused)
        let last = try await scene.lastEvent
        for query in ["after=\(last)", "after=0&session=nowhere", "session=nowhere"] {
            let start = ContinuousClock.now
            let page = try await scene.api.get("/v1/events?\(query)&wait=1").json
            #expect(page == ["events": [], "next_after": .integer(last)])
            #expect(ContinuousClock.now - start >= .seconds(1))
        }
        for refused in ["31", "-1", "1.5", "x", ""] {
            #expect(try await scene.api.get("/v1/events?wait=\(refused)").problem == .init(kind: "invalid-value"))
        }
        #expect(try await scene.api.get("/v1/events?wait=30&after=\(last + 1)").problem == .init(kind: "invalid-value"))
    }

    /// A reader that always waits gets every event once, from all writers.
    @Test func returnsEveryEventOnceToWaitingReader() async throws {
        let scene = try await Scene()
        let begin = try await scene.lastEvent
        async let writers: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try await scene.api.submit(scene.order("/file", ("not_before", "2999-01-01T00:00:00Z")))
                    }
                }
            }
            try await group.waitForAll()
        }
        var (seen, after): ([JSON], Int64) = ([], begin)
        while seen.count < 200 {
            let page = try await scene.api.get("/v1/events?after=\(after)&wait=10&limit=7").json
            try #require(page["events"].count > 0)
            seen += page["events"].arrayValue ?? []
            after = try #require(page["next_after"].integer)
        }
        try await writers
        let isWhole = try await scene.api.events() == seen
        #expect(isWhole)
    }
}

extension Scene {
    /// The number of the latest event.
    var lastEvent: Int64 {
        get async throws { try await api.get("/v1/stats").json["last_event"].integer ?? -1 }
    }
}
