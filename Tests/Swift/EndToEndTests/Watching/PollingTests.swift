import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// `GET /v1/jobs/{id}` with an ETag (`If-None-Match`), and with a wait (`Prefer: wait`).
@Suite struct PollingTests {
    @Test func answers304WhenIfNoneMatchIsCurrent() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        let tag = try await scene.api.tag(of: id)
        for known in [tag, "W/\(tag)", "\"1.1\", \(tag)", "*", "\(tag.prefix { $0 != "." })\""] {
            let answer = try await scene.api.poll(id, knowing: known)
            #expect(answer.status == 304, "\(known)")
            #expect(answer.header("ETag") == tag)
            #expect(answer.body.isEmpty)
            #expect(answer.header("Preference-Applied") == nil)
            // Some clients would wait for a body of this length.
            #expect(answer.header("Content-Length") == nil)
        }
        for other in ["\"1.1\"", "\"x\"", "nonsense"] {
            let answer = try await scene.api.poll(id, knowing: other)
            #expect(answer.status == 200)
            #expect(answer.json["id"].string == id)
        }
        #expect(try await scene.api.poll("job_01HZX3K9V7Q2N4R8T6W0YB5CDE", knowing: "*").status == 404)
    }

    /// The service keeps the responses to polls and lists. None of them is older than an acknowledged change.
    @Test func repeatedReadsShowEachChangeAtOnce() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        for number in Int64(0)..<20 {
            let patch = try await scene.api.send("PATCH", "/v1/jobs/\(id)", ["metadata": ["n": .integer(number)]])
            for _ in 0..<3 {
                let poll = try await scene.api.poll(id)
                #expect(poll.json["metadata"] == ["n": .integer(number)])
                #expect(poll.header("ETag") == patch.header("ETag"))
                let list = try await scene.api.get("/v1/jobs?limit=5")
                #expect(list.json["jobs"].arrayValue?.first { $0["id"].string == id } == poll.json)
            }
        }
        _ = try await scene.api.act(.cancel, on: id)
        #expect(try await scene.api.get("/v1/jobs?limit=5").json["jobs"].arrayValue?.first?["state"] == "cancelled")
        #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204)
        #expect(try await scene.api.poll(id).status == 404)
        #expect(try await scene.api.get("/v1/jobs?limit=5").json["jobs"].arrayValue?.first?["id"].string != id)
    }

    /// The first change ends the wait, in every state.
    @Test(arguments: JobState.Kind.allCases)
    func endsJobWaitWithChangeInEveryState(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: state)
        let tag = try await scene.api.tag(of: id)
        // The ETag without progress, as a running job's progress would end the wait.
        async let news = scene.api.poll(id, knowing: "\(tag.prefix { $0 != "." })\"", wait: 30)
        try await scene.untilWatched()
        let patch = try await scene.api.send("PATCH", "/v1/jobs/\(id)", ["metadata": ["seen": true]])
        #expect(patch.status == 200)
        let answer = try await news
        #expect(answer.status == 200)
        #expect(answer.json["metadata"] == ["seen": true])
        #expect(answer.json["revision"] == patch.json["revision"])
        #expect(answer.header("Preference-Applied") == "wait=30")
        #expect(answer.header("ETag") != tag)
    }

    // MARK: Until the end

    @Test func waitsForEndOfJobThroughChanges() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .running)
        let (path, wait) = ("/v1/jobs/\(id)?until=ended", [(name: "Prefer", value: "wait=30")])
        async let first = scene.api.get(path, headers: wait)
        async let session = scene.api.get("/v1/sessions/default?until=idle", headers: wait)
        try await scene.untilWatched(by: 2)
        // Neither the pause nor another job ends the waits.
        try await scene.api.act(.pause, on: id)
        let other = try await scene.api.submit(scene.order("/missing"))
        try await scene.api.waitForJob(other, .failed)
        try await scene.untilWatched(by: 2)
        try await scene.api.act(.cancel, on: id)
        let (job, idle) = try await (first, session)
        #expect(job.status == 200 && job.json["state"] == "cancelled", "\(job)")
        #expect(job.header("Preference-Applied") == "wait=30" && job.header("ETag") != nil)
        #expect(idle.status == 200 && idle.json["state"] == "idle", "\(idle)")
        #expect(idle.header("Preference-Applied") == "wait=30")
        // What has ended is answered at once; a client that knows it gets 304.
        #expect(try await scene.api.get(path, headers: wait).json == job.json)
        let known = try await scene.api.get(
            path, headers: wait + [("If-None-Match", try #require(job.header("ETag")))])
        #expect(known.status == 304)
    }

    @Test func answersWithPresentDocumentWhenTheEndDoesNotCome() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        for (path, state, goal) in [
            ("/v1/jobs/\(id)?until=ended", "paused", "ended"), ("/v1/sessions/default?until=idle", "active", "idle"),
        ] {
            for wait in [[], [(name: "Prefer", value: "wait=1")]] {
                let answer = try await scene.api.get(path, headers: wait)
                #expect(answer.status == 200 && answer.json["state"].string == state, "\(answer)")
            }
            let unknown = try await scene.api.get(path.replacing(/until=.*/, with: "until=noon"))
            #expect(unknown.status == 422 && unknown.json["detail"].string == "The parameter until must be \(goal).")
        }
        #expect(try await scene.api.get("/v1/sessions/none?until=idle", headers: [("Prefer", "wait=5")]).status == 404)
        // A job that is deleted while a client waits for its end.
        async let gone = scene.api.get("/v1/jobs/\(id)?until=ended", headers: [("Prefer", "wait=30")])
        try await scene.untilWatched()
        #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204)
        #expect([200, 404].contains(try await gone.status))
    }

    @Test func endsJobWaitAfterItsTime() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let tag = try await scene.api.tag(of: id)
        let start = ContinuousClock.now
        let answer = try await scene.api.poll(id, knowing: tag, wait: 1)
        #expect(answer.status == 304)
        #expect(answer.header("Preference-Applied") == "wait=1")
        #expect(answer.header("ETag") == tag)
        #expect((.seconds(1)...(.seconds(10))).contains(ContinuousClock.now - start))
        // A client with another ETag is answered at once; a longer wait is reduced to 30 seconds.
        let other = try await scene.api.poll(id, knowing: "\"1.0\"", wait: 3600)
        #expect(other.status == 200)
        #expect(other.header("Preference-Applied") == "wait=30")
        #expect(try await scene.api.poll(id, knowing: tag, wait: 0).status == 304)
    }

    /// Without an ETag a request waits for the next change; the request for an ended job is answered at once.
    @Test func waitsForNextChangeWithoutETag() async throws {
        let scene = try await Scene()
        let (paused, done) = (try await scene.job(in: .paused), try await scene.job(in: .failed))
        let atOnce = try await scene.api.poll(done, wait: 30)
        #expect(atOnce.status == 200)
        #expect(atOnce.json["state"] == "failed")
        let unchanged = try await scene.api.poll(paused, wait: 1)
        #expect(unchanged.status == 200)
        #expect(unchanged.json["state"] == "paused")
        async let news = scene.api.poll(paused, wait: 30)
        try await scene.untilWatched()
        _ = try await scene.api.post("/v1/jobs/\(paused)/cancel")
        #expect(try await news.json["state"] == "cancelled")
    }

    @Test func endsJobWaitWithProgress() async throws {
        let scene = try await Scene()
        let slow: JSONObject = ["rate_limit_bytes_per_second": 20_000]
        scene.origin.serve("/long", .file(Content.random(seed: 3, count: 2_000_000)))
        let id = try await scene.api.submit(scene.order("/long").with(slow))
        try await scene.api.waitForBytes(id)
        var tag = try await scene.api.tag(of: id)
        for _ in 0..<4 {
            let answer = try await scene.api.poll(id, knowing: tag, wait: 30)
            #expect(answer.status == 200)
            let next = try #require(answer.header("ETag"))
            #expect(next != tag)
            #expect(answer.json["state"] == "running")
            tag = next
        }
    }

    /// The origin stalls, so the rate drops, and a client with the previous ETag gets the new document.
    @Test func servesOneDocumentPerETagAndEndsWaitWhenRateDrops() async throws {
        let (scene, gate) = (try await Scene(), Gate())
        let bytes = Content.random(seed: 4, count: 2_000_000)
        scene.origin.serve("/stuck", .file(bytes), .waiting(at: 1_000_000, for: gate))
        let id = try await scene.api.submit(scene.order("/stuck"))
        var documents: [String: JSON] = [:]
        var rates: Set<Int64> = []
        _ = try await eventually("the rate to drop") {
            let answer = try await scene.api.poll(id)
            let tag = try #require(answer.header("ETag"))
            #expect(documents[tag, default: answer.json] == answer.json)
            documents[tag] = answer.json
            let progress = answer.json["progress"]
            if progress["bytes_received"] == 1_000_000, let rate = progress["bytes_per_second"].integer {
                rates.insert(rate)
            }
            return rates.count >= 4 ? true : nil
        }
        let tag = try await scene.api.tag(of: id)
        let news = try await scene.api.poll(id, knowing: tag, wait: 30)
        #expect(news.status == 200)
        #expect(news.json["progress"]["bytes_received"] == 1_000_000)
        gate.open()
    }

    @Test func endsJobWaitWhenJobIsDeleted() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        let tag = try await scene.api.tag(of: id)
        async let news = scene.api.poll(id, knowing: "\(tag.prefix { $0 != "." })\"", wait: 30)
        try await scene.untilWatched()
        #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204)
        // The job is cancelled first; a quick wait sees that state.
        let answer = try await news
        #expect(answer.status == 404 || answer.json["state"] == "cancelled")
    }

    /// The next poll shows an acknowledged change, also during concurrent polls.
    @Test func showsAcknowledgedChangeInNextPoll() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        let isOver = Monitor(false)
        async let others: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { while !isOver.current { _ = try await scene.api.poll(id) } } }
            try await group.waitForAll()
        }
        for number in 0..<100 {
            let patch = try await scene.api.send("PATCH", "/v1/jobs/\(id)", ["metadata": ["n": .count(number)]])
            let poll = try await scene.api.poll(id)
            #expect(poll.json == patch.json)
            #expect(poll.header("ETag") == patch.header("ETag"))
        }
        isOver.withLock { $0 = true }
        try await others
    }

    @Test(.realProcess) func releasesWaitsOfDisconnectedClients() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let tag = try await scene.api.tag(of: id)
        let before = scene.process.descriptors
        let clients = try (0..<300).map { number in
            let request = number % 2 == 0 ? "/v1/jobs/\(id)" : "/v1/events?wait=30&type=job.deleted"
            return try SilentClient(
                scene.fetchd.port,
                "GET \(request) HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n"
                    + "Prefer: wait=30\r\n\r\n")
        }
        try await scene.untilWatched(by: 300)
        let start = ContinuousClock.now
        for client in clients { client.close() }
        // The reading connections of the database are opened on demand, and stay.
        let kept = before + 20
        _ = try await eventually("the waits to be given up") { scene.process.descriptors <= kept ? true : nil }
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test(.realProcess) func answersWaitsAtShutdown() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let tag = try await scene.api.tag(of: id)
        let last = try #require(try await scene.api.events().last?["id"].integer)
        let start = ContinuousClock.now
        async let job = scene.api.poll(id, knowing: tag, wait: 30)
        async let events = scene.api.get("/v1/events?after=\(last)&wait=30&type=job.deleted")
        try await scene.untilWatched(by: 2)
        let ending = try await scene.process.terminate()
        #expect(ending == .exited(0))
        #expect(try await job.status == 304)
        #expect(try await job.header("Preference-Applied") == "wait=30")
        #expect(try await events.json["events"] == [])
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
