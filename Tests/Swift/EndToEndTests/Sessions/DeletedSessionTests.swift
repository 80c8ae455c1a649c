import Formats
import TestKit
import Testing

/// `finishTasksAndInvalidate` and `invalidateAndCancel`: a deleted session takes no new jobs, ends its outstanding
/// jobs, delivers its events, and then is removed.
@Suite struct DeletedSessionTests {
    private static let path = "/v1/sessions/films"

    @Test func finishesOutstandingJobsAndDeliversEventsBeforeRemoval() async throws {
        let receiver = try WebhookReceiver()
        let films = try await BusySession()
        try await films.api.declareWebhook(of: "films", url: receiver.url)
        let answer = try await films.api.delete(films.path)
        #expect(answer.status == 202)
        #expect(answer.json["state"] == "finishing")
        #expect(answer.json.counts == ["failed": 1, "running": 1])
        try await films.expectNothingNewIsTaken()
        // A repeated deletion is answered in the same way.
        #expect(try await films.api.delete(films.path).status == 202)

        films.scene.gate.open()
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.data["counts"] == ["succeeded": 1, "failed": 1, "cancelled": 0])
        try await films.api.waitForEnd(of: "films")
        for path in [
            "/v1/jobs/\(films.held)", "/v1/jobs/\(films.failed)", "\(films.path)/webhooks/receiver",
            "\(films.path)/webhooks",
        ] {
            #expect(try await films.api.get(path).status == 404, "\(path)")
        }
        #expect(try await films.api.delete(films.path).status == 404)
        #expect(try await films.api.get("/v1/sessions").json["sessions"].arrayValue?.map { $0["id"] } == ["default"])
        // Downloaded files and events are kept.
        #expect(films.scene.fetchd.downloaded("films/held") == films.scene.bytes)
        #expect(try await films.api.finishes(of: "films").map { $0["id"] } == [finish.data["event"]])
    }

    @Test func cancelsOutstandingJobsWithOutstandingCancel() async throws {
        let (gate, receiver) = (Gate(), try WebhookReceiver())
        receiver.answer(204, after: gate)
        let films = try await BusySession()
        try await films.api.declareWebhook(of: "films", url: receiver.url)
        try await films.api.submit(films.scene.order("/busy", ("session", "films")))
        let answer = try await films.api.delete(films.path + "?outstanding=cancel")
        #expect(answer.status == 202)
        #expect(answer.json["state"] == "finishing")
        #expect(answer.json.counts == ["failed": 1, "cancelled": 2])
        #expect(try await films.api.job(films.held)["state"] == "cancelled")
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.data["counts"] == ["succeeded": 0, "failed": 1, "cancelled": 2])
        gate.open()
        try await films.api.waitForEnd(of: "films")
        #expect(try await films.scene.fetchd.partFilesAreRemoved())
    }

    @Test func cancelsOutstandingJobsOfSessionThatIsFinishing() async throws {
        let films = try await BusySession()
        #expect(try await films.api.delete(films.path + "?outstanding=finish").status == 202)
        #expect([202, 204].contains(try await films.api.delete(films.path + "?outstanding=cancel").status))
        try await films.api.waitForEnd(of: "films")
        #expect(try await films.api.finishes(of: "films").map { $0["data"]["counts"]["cancelled"] } == [1])
    }

    @Test(arguments: ["finish", "cancel"])
    func removesSettledSessionAtOnce(_ choice: String) async throws {
        let scene = try await Scene()
        let path = Self.path + "?outstanding=\(choice)"
        try await scene.api.declareSession("films")
        #expect(try await scene.api.delete(path).status == 204)
        #expect(try await scene.api.get(Self.path).status == 404)
        // An unacknowledged finish without a webhook does not keep the session either.
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        let id = try await scene.api.submit(scene.order("/file", ("session", "films")))
        try await scene.api.waitForFinish(of: "films")
        #expect(try await scene.api.delete(path).status == 204)
        #expect(try await scene.api.get(Self.path).status == 404)
        #expect(try await scene.api.get("/v1/jobs/\(id)").status == 404)
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
    }

    /// A deletion wakes the background worker that closes sessions, and it may close a session before the request does.
    /// With many deletions at once this happens to some; the answer is the same.
    @Test(arguments: ["finish", "cancel"])
    func answers204ForSettledSessionDuringConcurrentDeletions(_ choice: String) async throws {
        let scene = try await Scene()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let path = "/v1/sessions/films-\(number)"
                    guard try await scene.api.put(path).status == 201 else { throw Overdue("\(path) was not declared") }
                    return try await scene.api.delete(path + "?outstanding=\(choice)").status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 204, count: 200))
    }

    /// The action ends the session's last job; the session is removed after the response.
    @Test(arguments: ["/v1/sessions/films/cancel", "/v1/jobs/{job}/cancel"])
    func answersActionThatEndsFinishingSession(_ path: String) async throws {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        for _ in 1...5 {
            try await scene.api.declareSession("films")
            let job = try await scene.api.submit(scene.order("/held", ("session", "films")))
            try await scene.api.waitForBytes(job)
            #expect(try await scene.api.delete(Self.path).status == 202)
            let answer = try await scene.api.post(path.replacing("{job}", with: job))
            #expect(answer.status == 200)
            if path.hasPrefix("/v1/jobs") {
                #expect(answer.json["state"] == "cancelled")
            } else {
                #expect(answer.json["state"] == "finishing")
                #expect(answer.json.counts == ["cancelled": 1])
            }
            try await scene.api.waitForEnd(of: "films")
        }
    }

    @Test func answers409ForDeletionOfDefaultSession() async throws {
        let scene = try await Scene()
        for query in ["", "?outstanding=finish", "?outstanding=cancel"] {
            let answer = try await scene.api.delete("/v1/sessions/default" + query)
            #expect(answer.status == 409)
            #expect(answer.problem == .init(kind: "state-conflict"))
        }
        #expect(try await scene.api.session()["state"] == "idle")
        try await scene.api.waitForJob(scene.api.submit(scene.order()), .succeeded)
        #expect(try await scene.api.delete("/v1/sessions/nowhere").status == 404)
        #expect(try await scene.api.delete("/v1/sessions/default?outstanding=maybe").status == 422)
    }

    @Test func startsNewSessionWhenDeclaredAfterDeletion() async throws {
        let films = try await BusySession()
        #expect([202, 204].contains(try await films.api.delete(films.path + "?outstanding=cancel").status))
        try await films.api.waitForEnd(of: "films")
        let told = try await films.api.journal(of: "films")

        let answer = try await films.api.put(films.path, ["finish_delay_seconds": 0.05])
        #expect(answer.status == 201)
        #expect(answer.json["state"] == "idle")
        #expect(answer.json["batch"] == 0)
        #expect(answer.json.counts == [:])
        #expect(answer.json["last_event"] == told.last?["id"])
        #expect(answer.json["acknowledged_through"] == told.last?["id"])
        #expect(answer.json["unacknowledged_since"] == .null)
        #expect(try await films.api.get(films.path + "/webhooks").json["webhooks"] == [])

        try await films.api.submit(films.scene.order("/file", ("session", "films")))
        let news = try await eventually("its own first batch to finish") {
            let news = try await films.api.journal(of: "films", after: answer.json["last_event"].integer ?? 0)
            return news.last?["type"] == "session.finished" ? news : nil
        }
        #expect(JSON.types(of: news) == ["job.created", "job.started", "job.succeeded", "session.finished"])
        #expect(news[3]["data"]["batch"] == 1)
        #expect(news[3]["data"]["first_event"] == news[0]["id"])
    }
}
