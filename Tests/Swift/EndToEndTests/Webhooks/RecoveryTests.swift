import Formats
import TestKit
import Testing

/// `POST .../recover`: sends the events of the journal again to a consumer that lost them or came later.
@Suite struct RecoveryTests {
    @Test func recoversAcknowledgedAndExhaustedDeliveriesWithSameID() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0, 0.01]), try WebhookReceiver())
        receiver.refuse("job.created", times: 2)
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.created", "session.finished"])
        try await scene.api.submit(scene.order())
        let before = try await settled(scene, count: 2)
        #expect(before.map { $0["state"] } == ["acknowledged", "exhausted"])
        let recovered = try await scene.api.act("recover", ["after": 0])
        #expect(recovered.status == 200)
        #expect(recovered.json == ["recovered": 2])
        _ = try await receiver.waitFor("session.finished", count: 2)
        let after = try await scene.api.waitForSettledDeliveries()
        #expect(after.map { $0["id"] } == before.map { $0["id"] })
        #expect(after.map { $0["state"] } == ["acknowledged", "acknowledged"])
        // Earlier attempts stay in the log.
        #expect(after.map { $0["attempts"].count } == [2, 3])
        // In order again: the event is pending once more, and delays the finish.
        #expect(receiver.received.map(\.type).suffix(2) == ["job.created", "session.finished"])
        #expect(Set(receiver.received.map(\.id)).count == 2)
    }

    @Test func recoversEventsFromBeforeWebhookWasCreated() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await scene.api.waitForJob(try await scene.api.submit(scene.order()), .succeeded)
        let journal = try await eventually("the finish") {
            let events = try await scene.api.events()
            return events.last?["type"] == "session.finished" ? events : nil
        }
        let secret = try await scene.api.declareWebhook(url: receiver.url, events: ["job.*", "session.finished"])
        #expect(try await scene.api.deliveries() == [])
        #expect(try await scene.api.act("recover", ["after": 0]).json == ["recovered": .count(journal.count)])
        _ = try await receiver.waitFor("session.finished")
        #expect(receiver.received.last?.type == "session.finished")
        #expect(receiver.received.allSatisfy { $0.isSigned(with: secret) })
        #expect(Set(receiver.received.map { $0.data["event"].integer }) == Set(journal.map { $0["id"].integer }))
        #expect(receiver.received.count == journal.count)
        // The webhook acknowledged the finish, which was not addressed to any webhook before.
        _ = try await eventually("the finish to be acknowledged") {
            try await scene.api.session()["unacknowledged_since"] == .null ? true : nil
        }
    }

    @Test func recoversOnlyEventsAfterGivenNumber() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.*", "session.finished"])
        try await scene.api.submit(scene.order())
        let log = try await settled(scene, count: 4)
        #expect(receiver.received.count == 4)
        let started = try #require(log.first { $0["type"] == "job.started" }?["event"].integer)
        #expect(try await scene.api.act("recover", ["after": .integer(started)]).json == ["recovered": 2])
        let again = try await receiver.waitFor(count: 6).suffix(2)
        #expect(again.map(\.type) == ["job.succeeded", "session.finished"])
        try await scene.api.waitForSettledDeliveries()
        // There are no events after the last.
        let last = try #require(log[0]["event"].integer)
        for after in [last, last + 1000] {
            #expect(try await scene.api.act("recover", ["after": .integer(after)]).json == ["recovered": 0])
        }
        #expect(receiver.received.count == 6)
    }

    @Test func recoversOnlyMatchingEventsAndNoTestEvents() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.succeeded"])
        #expect(try await scene.api.act("test").status == 200)
        // Two concurrent deliveries may arrive in either order.
        _ = try await receiver.waitFor("webhook.test")
        try await scene.api.submit(scene.order())
        _ = try await settled(scene, count: 2)
        #expect(try await scene.api.act("recover", ["after": 0]).json == ["recovered": 1])
        _ = try await receiver.waitFor("job.succeeded", count: 2)
        #expect(receiver.received.map(\.type) == ["webhook.test", "job.succeeded", "job.succeeded"])
    }

    /// There are more events than one transaction recovers.
    @Test func recoversMoreEventsThanOneStep() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        _ = try await scene.job(in: .running)
        try await scene.api.declareSession("narrow", ["max_concurrent_jobs": 1])
        let orders = Array(repeating: scene.order("/held", ("session", "narrow")), count: 1100)
        #expect(try await scene.api.post("/v1/jobs/batch", ["jobs": .array(orders)]).status == 201)
        try await scene.api.declareWebhook(of: "narrow", url: receiver.url, events: ["job.created"])
        let recovered = try await scene.api.post("/v1/sessions/narrow/webhooks/receiver/recover", ["after": 0])
        #expect(recovered.json == ["recovered": 1100])
        let received = try await receiver.waitFor(count: 1100)
        #expect(Set(received.map(\.id)).count == 1100)
        #expect(Set(received.map { $0.data["job"].string }).count == 1100)
    }

    @Test func answers409ForRecoveryWhileDisabled() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        receiver.answer(410, to: 1...1)
        try await scene.api.declareWebhook(url: receiver.url)
        try await scene.api.submit(scene.order())
        try await scene.api.waitForDelivery(of: "session.finished", toBe: .cancelled)
        let refused = try await scene.api.act("recover", ["after": 0])
        #expect(refused.status == 409)
        #expect(refused.problem == .init(kind: "state-conflict"))
        #expect(try await scene.api.deliveries().map { $0["state"] } == ["cancelled"])
    }

    @Test(
        arguments: [
            ([:], "missing-field"), (["after": -1], "invalid-value"), (["after": "1"], "invalid-value"),
            (["after": 1.5], "invalid-value"),
        ] as [(JSON, String)])
    func answers422WhenAfterIsMissingOrInvalid(_ body: JSON, _ kind: String) async throws {
        let scene = try await Scene()
        try await scene.api.declareWebhook(url: "https://consumer.example/")
        let refused = try await scene.api.act("recover", body)
        #expect(refused.status == 422)
        #expect(refused.problem == .init(kind: kind, pointer: "/after"))
    }

    /// The log, once the given number of deliveries are settled.
    private func settled(_ scene: Scene, count: Int) async throws -> [JSON] {
        try await eventually("\(count) deliveries to be settled") {
            let log = try await scene.api.deliveries()
            return log.count == count && log.allSatisfy { $0["state"] != "pending" } ? log : nil
        }
    }
}
