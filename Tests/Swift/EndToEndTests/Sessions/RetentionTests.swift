import Formats
import Storage
import TestKit
import Testing
import Webhooks

/// The journal prunes acknowledged events after a retention time. A reader that comes too late is answered 410 with the
/// first available event.
@Suite struct RetentionTests {
    private static let forgetful = LocalService.Options {
        $0.start.values.eventRetention = 0.5
        $0.start.values.unacknowledgedRetention = 3600
        $0.webhooks.schedule = RetrySchedule(delays: [0] + Array(repeating: 0.05, count: 2000))
    }

    private func finish(_ session: String, in scene: Scene) async throws -> JSON {
        try await scene.api.declareSession(session, ["finish_delay_seconds": 0, "acknowledgement": "expected"])
        try await scene.api.submit(scene.order("/file", ("session", .string(session))))
        return try await scene.api.waitForFinish(of: session)
    }

    /// The remaining events of a session.
    private func remaining(_ scene: Scene, of session: String) async throws -> [JSON] {
        let answer = try await scene.api.get("/v1/events?session=\(session)&limit=1000")
        #expect(answer.status == 200)
        return answer.json["events"].arrayValue ?? []
    }

    /// Waits until only events of the given types remain.
    private func waitUntilForgotten(
        _ scene: Scene, _ session: String, but types: [String] = []
    ) async throws {
        _ = try await eventually("the events of \(session) to be forgotten") {
            JSON.types(of: try await remaining(scene, of: session)) == types ? true : nil
        }
    }

    @Test func prunesAcknowledgedEventsAndKeepsOthers() async throws {
        let (scene, receiver) = (
            try await Scene(
                process: .init(arguments: [
                    "--event-retention", "0.5", "--unacknowledged-retention", "3600", "--webhook-retry-delays",
                    "0," + Array(repeating: "0.05", count: 2000).joined(separator: ","),
                ])), try WebhookReceiver()
        )
        let called = try await finish("called", in: scene)
        try await scene.api.declareSession("posted")
        // The finish is acknowledged, and pruned soon after, when the test has read it.
        let gate = Gate()
        receiver.answer(204, after: gate)
        try await scene.api.declareWebhook(of: "posted", url: receiver.url)
        let posted = try await finish("posted", in: scene)
        gate.open()
        // No consumer acknowledges this finish.
        let kept = try await finish("kept", in: scene)
        try await scene.api.acknowledge("called", through: called["id"].integer)
        for name in ["called", "posted"] { try await waitUntilForgotten(scene, name) }

        // Jobs and session state are not part of the journal.
        for (name, finish) in [("called", called), ("posted", posted)] {
            #expect(try await scene.api.counts(of: name) == ["succeeded": 1])
            #expect(try await scene.api.session(name)["last_event"] == finish["id"])
        }
        try await scene.process.kill()
        try await scene.process.restart()
        let answer = try await scene.api.get("/v1/events?after=0")
        #expect(answer.status == 410)
        #expect(answer.problem == .init(kind: "events-pruned"))
        let first = try #require(answer.json["first_available"].integer)
        #expect(first > (posted["id"].integer ?? 0))
        #expect(try await scene.api.get("/v1/events?after=\(first - 2)").status == 410)
        // A recovery whose first events are pruned is refused, instead of sending only a part.
        let webhook = "/v1/sessions/posted/webhooks/receiver"
        let recovery = try await scene.api.post(webhook + "/recover", ["after": 0])
        #expect(recovery.problem == .init(kind: "events-pruned"))
        #expect(recovery.json["first_available"].integer.map { $0 <= first } == true)
        // Reading from the first available event, or without `after`, succeeds.
        let next = try await scene.api.get("/v1/events?after=\(first - 1)")
        #expect(next.status == 200)
        let stays = next.json["events"].arrayValue ?? []
        #expect(JSON.types(of: stays) == ["job.created", "job.started", "job.succeeded", "session.finished"])
        #expect(stays.last == kept)
        #expect(try await scene.api.get("/v1/events").json["events"].arrayValue == stays)
    }

    /// A client re-attaches with `acknowledged_through`, however many events of other sessions were pruned.
    @Test func answers410OnlyWhenEventsOfThatSessionWerePruned() async throws {
        let scene = try await Scene(Self.forgetful)
        try await scene.api.declareSession("quiet")
        let finish = try await finish("busy", in: scene)
        try await scene.api.acknowledge("busy", through: finish["id"].integer)
        try await waitUntilForgotten(scene, "busy")
        for name in ["quiet", "busy"] {
            let session = try await scene.api.declareSession(name)
            let after = try #require(session["acknowledged_through"].integer)
            let answer = try await scene.api.get("/v1/events?session=\(name)&after=\(after)")
            #expect(answer.status == 200, "\(name): \(answer)")
            #expect(answer.json["events"] == [])
        }
        #expect(try await scene.api.get("/v1/events?session=busy&after=0").status == 410)
        #expect(try await scene.api.get("/v1/events?after=0").status == 410)
    }

    /// The client has acknowledged the events, but an endpoint has not accepted one yet.
    @Test func keepsEventsOfPendingDeliveriesUntilDelivered() async throws {
        let (scene, receiver) = (try await Scene(Self.forgetful), try WebhookReceiver())
        receiver.answer(503)
        try await scene.api.declareSession("films")
        try await scene.api.declareWebhook(of: "films", url: receiver.url)
        let finish = try await finish("films", in: scene)
        try await scene.api.acknowledge("films", through: finish["id"].integer)
        try await waitUntilForgotten(scene, "films", but: ["session.finished"])
        receiver.answer(204)
        try await waitUntilForgotten(scene, "films")
        #expect(receiver.received.last?.data["event"] == finish["id"])
        #expect(try await scene.api.get("/v1/sessions/films/webhooks/receiver/deliveries").json["deliveries"] == [])
    }

    @Test func prunesUnacknowledgedEventsAfterTheirRetention() async throws {
        // Finished by a service that keeps every event: the other could prune the first events before the last is
        // written.
        let before = try await Scene()
        let finish = try await finish("films", in: before)
        try await before.fetchd.stop()
        let forgetful = LocalService.Options {
            $0.start.values.eventRetention = 0
            $0.start.values.unacknowledgedRetention = 0.5
        }
        let scene = try await Scene(forgetful, in: before.fetchd.folder)
        try await waitUntilForgotten(scene, "films")
        // The session still shows that the finish was never acknowledged.
        #expect(try await scene.api.session("films")["unacknowledged_since"] == finish["time"])
        #expect(try await scene.api.get("/v1/events?after=0").status == 410)
    }

    @Test func startsRedeclaredSessionAfterPrunedEvents() async throws {
        let scene = try await Scene(Self.forgetful)
        let finish = try await finish("films", in: scene)
        #expect(try await scene.api.delete("/v1/sessions/films").status == 204)
        try await waitUntilForgotten(scene, "films")
        let session = try await scene.api.put("/v1/sessions/films")
        #expect(session.status == 201)
        #expect(session.json["acknowledged_through"] == session.json["last_event"])
        #expect(try #require(session.json["last_event"].integer) >= #require(finish["id"].integer))
        let after = try #require(session.json["acknowledged_through"].integer)
        #expect(try await scene.api.journal(of: "films", after: after) == [])
    }
}
