import Formats
import TestKit
import Testing

/// `GET /v1/events`: reading the journal.
@Suite struct EventTests {
    @Test func returnsEveryEventOnceInOrderAndByFilter() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos")
        let succeeded = try await scene.api.submit(scene.order("/file", ("session", "photos")))
        let failed = try await scene.job(in: .failed)
        try await scene.api.waitForJob(succeeded, .succeeded)
        _ = try await eventually("both finishes") {
            try await scene.api.get("/v1/events?type=session.*").json["events"].count == 2 ? true : nil
        }
        let all = try await scene.api.events()
        let ids = all.compactMap { $0["id"].integer }
        #expect(ids == ids.sorted() && Set(ids).count == all.count)

        // Reads one event at a time, from the beginning.
        var (seen, after): ([JSON], Int64) = ([], 0)
        while true {
            let page = try await scene.api.get("/v1/events?limit=1&after=\(after)").json
            guard let event = page["events"].arrayValue?.first else { break }
            seen.append(event)
            after = try #require(page["next_after"].integer)
        }
        #expect(seen == all)
        #expect(after == ids.last)

        func types(_ query: String) async throws -> [String?] {
            try await scene.api.get("/v1/events?\(query)").json["events"].arrayValue?.map { $0["type"].string } ?? []
        }
        let life = ["job.created", "job.started", "job.succeeded"]
        #expect(try await types("job=\(succeeded)") == life)
        #expect(try await types("session=photos") == life + ["session.finished"])
        #expect(try await types("session=photos&type=session.finished") == ["session.finished"])
        #expect(try await types("job=\(failed)&type=job.failed") == ["job.failed"])
        #expect(try await types("type=job.*&job=\(succeeded)") == life)
        #expect(try await types("after=\(ids[ids.count - 2])").count == 1)
        for nothing in ["session=nowhere", "job=job_1", "type=job.paused", "after=\(ids[ids.count - 1])"] {
            #expect(try await types(nothing) == [])
        }
    }

    /// `next_after` moves past events that do not match the filter.
    @Test func advancesNextAfterPastEventsOutsideFilter() async throws {
        let scene = try await Scene()
        _ = try await scene.job(in: .failed)
        let last = try #require(try await scene.api.events().last?["id"].integer)
        let page = try await scene.api.get("/v1/events?session=nowhere").json
        #expect(page["events"].count == 0)
        #expect(try #require(page["next_after"].integer) >= last)
    }

    @Test func redactsQueryStringInEventsAndLog() async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit(scene.order("/file?signature=9f2c"))
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["url"].string?.hasSuffix("?signature=9f2c") == true)
        let events = try await scene.api.events(of: id)
        #expect(events.allSatisfy { !$0.written.contains("9f2c") })
        #expect(events.last?["data"]["snapshot"]["url"].string?.hasSuffix("/file?...") == true)
        #expect(!scene.fetchd.log.contains("9f2c"))
    }

    @Test(arguments: [
        "after=-1", "after=x", "after=9223372036854775808", "limit=0", "limit=1001", "type=job", "type=*", "type=",
        "session=no%20name", "after=1&after=2", "after=\(Int64.max)",
    ])
    func refusesInvalidEventParameters(_ query: String) async throws {
        let scene = try await Scene()
        let answer = try await scene.api.get("/v1/events?\(query)")
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: "invalid-value"))
    }
}
