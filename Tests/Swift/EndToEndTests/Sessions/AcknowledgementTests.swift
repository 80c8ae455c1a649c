import Formats
import TestKit
import Testing
import Webhooks

/// Acknowledgement of a finish: by every webhook it was addressed to, or by the client's call. Until then the session
/// shows `unacknowledged_since`.
@Suite struct AcknowledgementTests {
    private static let tireless = LocalService.Options {
        $0.webhooks.schedule = RetrySchedule(delays: [0] + Array(repeating: 0.05, count: 500))
    }

    /// Runs one job in a session and waits for the batch to finish.
    @discardableResult
    private func finish(
        _ session: String = "films", _ path: String = "/file", in scene: Scene
    ) async throws -> JSON {
        try await scene.api.declareSession(session, ["finish_delay_seconds": 0.05, "acknowledgement": "expected"])
        let batch = try await scene.api.session(session)["batch"].integer ?? 0
        try await scene.api.submit(scene.order(path, ("session", .string(session))))
        return try await scene.api.waitForFinish(of: session, batch: batch + 1)
    }

    private func deliveryState(_ scene: Scene, _ webhook: String) async throws -> JSON {
        let path = "/v1/sessions/films/webhooks/\(webhook)/deliveries"
        return try await scene.api.get(path).json["deliveries"][0]["state"]
    }

    @Test func acknowledgesFinishWhenEveryWebhookHasAcknowledgedIt() async throws {
        let scene = try await Scene(Self.tireless)
        let (willing, unwilling) = (try WebhookReceiver(), try WebhookReceiver())
        unwilling.answer(503)
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        try await scene.api.declareWebhook("willing", of: "films", url: willing.url)
        try await scene.api.declareWebhook("unwilling", of: "films", url: unwilling.url)
        let finish = try await finish(in: scene)
        _ = try await unwilling.waitFor(count: 3)
        _ = try await eventually("the willing one's acknowledgement") {
            try await deliveryState(scene, "willing") == "acknowledged" ? true : nil
        }
        // One acknowledgement of two is not enough.
        #expect(try await scene.api.session("films")["unacknowledged_since"] == finish["time"])
        unwilling.answer(204)
        let session = try await scene.api.waitForSession("films", toBe: "acknowledged") {
            $0["unacknowledged_since"] == .null
        }
        #expect(willing.received.count == 1)
        // Only the client's call sets `acknowledged_through`.
        #expect(session["acknowledged_through"] == 0)
    }

    @Test func ignoresWebhooksThatDoNotSubscribeToFinish() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        try await scene.api.declareWebhook(of: "films", url: receiver.url, events: ["job.*"])
        let finish = try await finish(in: scene)
        _ = try await receiver.waitFor("job.succeeded")
        _ = try await eventually("all of its deliveries to be acknowledged") {
            let deliveries = try await scene.api.get("/v1/sessions/films/webhooks/receiver/deliveries").json[
                "deliveries"]
            return deliveries.arrayValue?.allSatisfy { $0["state"] == "acknowledged" } == true ? true : nil
        }
        #expect(try await scene.api.session("films")["unacknowledged_since"] == finish["time"])
    }

    /// No webhook and no client can acknowledge, until one does.
    @Test func expectsNoAcknowledgementWithoutAConsumer() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        var finish: JSON = nil
        for batch in Int64(1)...2 {
            try await scene.api.submit(scene.order("/file", ("session", "films")))
            finish = try await scene.api.waitForFinish(of: "films", batch: batch)
            #expect(try await scene.api.session("films")["unacknowledged_since"] == .null)
        }
        #expect(try await scene.api.get("/v1/stats").json["finishes_unacknowledged"] == 0)
        let before = try #require(finish["id"].integer) - 1
        #expect(try await scene.api.acknowledge("films", through: before)["unacknowledged_since"] == finish["time"])
        let none = try await scene.api.send("PATCH", "/v1/sessions/films", ["acknowledgement": "none"])
        #expect(none.json["configuration"]["acknowledgement"] == "none" && none.json["unacknowledged_since"] == .null)
    }

    @Test(.realProcess) func acknowledgesThroughEventAndKeepsItAfterKill() async throws {
        let scene = try await Scene()
        let finish = try await finish(in: scene)
        let id = try #require(finish["id"].integer)
        #expect(try await scene.api.session("films")["unacknowledged_since"] == finish["time"])
        // All events except the finish itself.
        var session = try await scene.api.acknowledge("films", through: id - 1)
        #expect(session["acknowledged_through"].integer == id - 1)
        #expect(session["unacknowledged_since"] == finish["time"])
        session = try await scene.api.acknowledge("films", through: id)
        #expect(session["acknowledged_through"].integer == id)
        #expect(session["unacknowledged_since"] == .null)
        // An acknowledgement is never taken back.
        for earlier in [id, 1, 0] { #expect(try await scene.api.acknowledge("films", through: earlier) == session) }
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await scene.api.session("films") == session)
    }

    @Test func showsTimeOfOldestUnacknowledgedFinish() async throws {
        let scene = try await Scene()
        var finishes: [JSON] = []
        for _ in 0..<3 { finishes.append(try await finish(in: scene)) }
        #expect(Set(finishes.compactMap { $0["time"].string }).count == 3)
        for finish in finishes {
            #expect(try await scene.api.session("films")["unacknowledged_since"] == finish["time"])
            try await scene.api.acknowledge("films", through: finish["id"].integer)
        }
        #expect(try await scene.api.session("films")["unacknowledged_since"] == .null)
    }

    @Test func keepsPendingDeliveryAfterAcknowledgement() async throws {
        let (scene, receiver) = (try await Scene(Self.tireless), try WebhookReceiver())
        receiver.answer(503)
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        try await scene.api.declareWebhook(of: "films", url: receiver.url)
        let finish = try await finish(in: scene)
        let session = try await scene.api.acknowledge("films", through: finish["id"].integer)
        #expect(session["unacknowledged_since"] == .null)
        #expect(try await deliveryState(scene, "receiver") == "pending")
        receiver.answer(204)
        _ = try await eventually("the delivery to be taken") {
            try await deliveryState(scene, "receiver") == "acknowledged" ? true : nil
        }
        #expect(receiver.received.last?.data["event"] == finish["id"])
    }

    @Test(.realProcess) func deliversEveryFinishToPollingConsumer() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05, "acknowledgement": "expected"])
        for batch in Int64(1)...3 {
            try await scene.api.submit(scene.order("/file", ("session", "films")))
            let session = try await scene.api.waitForSession("films", toBe: "finished") {
                $0["unacknowledged_since"] != .null
            }
            if batch == 2 {
                try await scene.process.kill()
                try await scene.process.restart()
            }
            let news = try await scene.api.journal(
                of: "films", after: session["acknowledged_through"].integer ?? 0, pagesOf: 2)
            #expect(
                JSON.types(of: news) == ["job.created", "job.started", "job.succeeded", "session.finished"])
            #expect(news.last?["data"]["batch"].integer == batch)
            try await scene.api.acknowledge("films", through: news.last?["id"].integer)
        }
        #expect(try await scene.api.session("films")["unacknowledged_since"] == .null)
    }

    @Test func refusesInvalidAcknowledgement() async throws {
        let scene = try await Scene()
        try await finish("photos", in: scene)
        let finish = try await finish(in: scene)
        let before = try await scene.api.session("films")
        let last = try #require(finish["id"].integer)
        let path = "/v1/sessions/films/acknowledge"
        let bodies: [(JSON, String)] = [
            (["through": .integer(last + 1)], "invalid-value"), (["through": .integer(.max)], "invalid-value"),
            (["through": -1], "invalid-value"), (["through": "1"], "invalid-value"),
            (["through": 1.5], "invalid-value"), ([:], "missing-field"),
        ]
        for (body, kind) in bodies {
            let answer = try await scene.api.post(path, body)
            #expect(answer.status == 422)
            #expect(answer.problem == .init(kind: kind, pointer: "/through"), "\(body.written)")
        }
        #expect(try await scene.api.post(path).status == 400)
        #expect(try await scene.api.session("films") == before)
        #expect(try await scene.api.post("/v1/sessions/nowhere/acknowledge", ["through": 0]).status == 404)
        // The finish of another session is not acknowledged.
        try await scene.api.acknowledge("films", through: last)
        #expect(try await scene.api.session("photos")["unacknowledged_since"] != .null)
    }
}
