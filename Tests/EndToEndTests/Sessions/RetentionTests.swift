import Formats
import Storage
import TestKit
import Testing
import Webhooks

/// The journal forgets what was taken, and never in silence: a reader who comes too late is told from where it can go on.
@Suite struct RetentionTests {
    private static let forgetful = LocalService.Options {
        $0.engine.retention = Retention(acknowledged: 0.5, unacknowledged: 3600)
        $0.webhooks.schedule = RetrySchedule(delays: [0] + Array(repeating: 0.05, count: 2000))
    }

    private func finish(_ session: String, in scene: Scene) async throws -> JSON {
        try await scene.api.declareSession(session, ["finish_delay_seconds": 0])
        try await scene.api.submit(scene.order("/file", ("session", .string(session))))
        return try await scene.api.waitForFinish(of: session)
    }

    /// What is left, read by somebody who does not ask for more than there is.
    private func remaining(_ scene: Scene, of session: String) async throws -> [JSON] {
        let answer = try await scene.api.get("/v1/events?session=\(session)&limit=1000")
        #expect(answer.status == 200)
        return answer.json["events"].arrayValue ?? []
    }

    private func waitUntilForgotten(
        _ scene: Scene, _ session: String, but types: [String] = []
    ) async throws {
        _ = try await eventually("the events of \(session) to be forgotten") {
            JSON.types(of: try await remaining(scene, of: session)) == types ? true : nil
        }
    }

    @Test func whatIsAcknowledgedIsForgottenAndWhatIsNotStays() async throws {
        let (scene, receiver) = (
            try await Scene(
                process: .init(arguments: [
                    "--event-retention", "0.5", "--unacknowledged-retention", "3600", "--webhook-retry-delays",
                    "0," + Array(repeating: "0.05", count: 2000).joined(separator: ","),
                ])), try WebhookReceiver()
        )
        let called = try await finish("called", in: scene)
        try await scene.api.declareSession("posted")
        try await scene.api.declareWebhook(of: "posted", url: receiver.url)
        let posted = try await finish("posted", in: scene)
        // Taken by nobody.
        let kept = try await finish("kept", in: scene)
        try await scene.api.acknowledge("called", through: called["id"].integer)
        for name in ["called", "posted"] { try await waitUntilForgotten(scene, name) }

        // The jobs, and how a session stands, are no part of the journal.
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
        // Nor is an endpoint sent a part of what it asks for as if that were all.
        let webhook = "/v1/sessions/posted/webhooks/receiver"
        let recovery = try await scene.api.post(webhook + "/recover", ["after": 0])
        #expect(recovery.problem == .init(kind: "events-pruned"))
        #expect(recovery.json["first_available"].integer.map { $0 <= first } == true)
        // From there on nothing is missing, and without asking for what was, one reads what is.
        let next = try await scene.api.get("/v1/events?after=\(first - 1)")
        #expect(next.status == 200)
        let stays = next.json["events"].arrayValue ?? []
        #expect(JSON.types(of: stays) == ["job.created", "job.started", "job.succeeded", "session.finished"])
        #expect(stays.last == kept)
        #expect(try await scene.api.get("/v1/events").json["events"].arrayValue == stays)
    }

    /// A client re-attaches with what its session says, however much other sessions have had forgotten meanwhile.
    @Test func whoLostNothingIsNotToldSo() async throws {
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

    /// The client has taken it, but an endpoint has not: what it is still owed stays.
    @Test func whatIsOnItsWayStays() async throws {
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

    @Test func notEvenWhatNobodyTookIsKeptForEver() async throws {
        // By a service that keeps everything: the forgetful one may have forgotten the beginning before the end is there.
        let before = try await Scene()
        let finish = try await finish("films", in: before)
        try await before.fetchd.stop()
        let forgetful = LocalService.Options {
            $0.engine.retention = Retention(acknowledged: 0, unacknowledged: 0.5)
        }
        let scene = try await Scene(forgetful, in: before.fetchd.folder)
        try await waitUntilForgotten(scene, "films")
        // That it was never taken is not forgotten.
        #expect(try await scene.api.session("films")["unacknowledged_since"] == finish["time"])
        #expect(try await scene.api.get("/v1/events?after=0").status == 410)
    }

    @Test func aSessionThatIsDeclaredAnewBeginsBehindWhatWasForgotten() async throws {
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
