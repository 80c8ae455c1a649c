import TestKit
import Testing
import Webhooks

/// A deleted session is removed only when its jobs and deliveries are settled, also across endpoint failures and
/// restarts.
@Suite struct UnsettledDeletionTests {
    private static let tireless = FetchdProcess.Options(
        arguments: ["--webhook-retry-delays", "0," + Array(repeating: "0.05", count: 500).joined(separator: ",")])

    @Test(.realProcess) func keepsDeletedSessionUntilEndpointAcceptsFinish() async throws {
        let receiver = try WebhookReceiver()
        receiver.answer(503)
        let films = try await BusySession(process: Self.tireless)
        try await films.api.declareWebhook(of: "films", url: receiver.url)
        films.scene.gate.open()
        #expect(try await films.api.delete(films.path).status == 202)
        _ = try await receiver.waitFor("session.finished", count: 2)
        // After a kill the session still refuses new jobs, and still has a pending delivery.
        try await films.scene.process.kill()
        try await films.scene.process.restart()
        #expect(try await films.api.session("films")["state"] == "finishing")
        try await films.expectNothingNewIsTaken()
        let attempts = receiver.received.count
        _ = try await receiver.waitFor("session.finished", count: attempts + 2)
        #expect(try await films.api.session("films")["state"] == "finishing")
        receiver.answer(204)
        try await films.api.waitForEnd(of: "films")
        #expect(Set(receiver.received.compactMap(\.id)).count == 1)
        #expect(try await films.api.finishes(of: "films").count == 1)
    }

    @Test func removesDeletedSessionWhenFinishDeliveryIsExhausted() async throws {
        let (receiver, gate) = (try WebhookReceiver(), Gate())
        receiver.answer(503)
        receiver.answer(503, to: 1...1, after: gate)
        let films = try await BusySession(.init { $0.webhooks.schedule = RetrySchedule(delays: [0, 0.05, 0.05]) })
        try await films.api.declareWebhook(of: "films", url: receiver.url)
        films.scene.gate.open()
        #expect(try await films.api.delete(films.path).status == 202)
        // The first delivery is held, so the session is not settled when the deletion is answered.
        gate.open()
        try await films.api.waitForEnd(of: "films")
        #expect(receiver.received.count == 3)
    }

    @Test(.realProcess) func keepsDeletionAfterKill() async throws {
        let films = try await BusySession()
        #expect(try await films.api.delete(films.path).status == 202)
        try await films.scene.process.kill()
        try await films.scene.process.restart()
        #expect(try await films.api.session("films")["state"] == "finishing")
        try await films.expectNothingNewIsTaken()
        #expect(["queued", "running"].contains(try await films.api.job(films.held)["state"]))
        films.scene.gate.open()
        try await films.api.waitForEnd(of: "films")
        #expect(films.scene.fetchd.downloaded("films/held") == films.scene.bytes)
        #expect(try await films.api.finishes(of: "films").map { $0["data"]["counts"]["succeeded"] } == [1])
        // The deletion is durable.
        try await films.scene.process.kill()
        try await films.scene.process.restart()
        #expect(try await films.api.get(films.path).status == 404)
    }

    /// A paused job keeps the session, and can be resumed.
    @Test func keepsDeletedSessionWithPausedJobUntilItEnds() async throws {
        let films = try await BusySession()
        #expect(try await films.api.post("/v1/jobs/\(films.held)/pause").status == 200)
        #expect(try await films.api.delete(films.path).status == 202)
        let session = try await films.api.session("films")
        #expect(session.counts == ["failed": 1, "paused": 1])
        #expect(session["state"] == "finishing")
        #expect(session["finish_due_at"] == .null)
        films.scene.gate.open()
        #expect(try await films.api.post("/v1/jobs/\(films.held)/resume").status == 200)
        try await films.api.waitForEnd(of: "films")
        #expect(films.scene.fetchd.downloaded("films/held") == films.scene.bytes)
    }
}
