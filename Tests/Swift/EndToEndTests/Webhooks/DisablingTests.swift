import TestKit
import Testing

/// An endpoint that answers 410 is disabled, other webhooks can be notified, and the client can enable it again.
@Suite struct DisablingTests {
    private static let path = "/v1/sessions/default/webhooks/receiver"

    /// Declares a webhook whose endpoint answers 410 to its first event.
    private func disable(_ receiver: WebhookReceiver, in scene: Scene, events: [String])
        async throws
    {
        receiver.answer(410, to: 1...1)
        try await scene.api.declareWebhook(url: receiver.url, events: events)
        let job = try await scene.api.submit(scene.order("/held"))
        _ = try await eventually("the webhook to be disabled") {
            try await scene.api.get(Self.path).json["state"] == "disabled" ? true : nil
        }
        // Not before, or a second event would be sent during the first delivery.
        scene.gate.open()
        try await scene.api.waitForJob(job, .succeeded)
    }

    @Test func notifiesOtherWebhooksWhenOneIsDisabled() async throws {
        let (scene, receiver, watcher) = (try await Scene.delivering(), try WebhookReceiver(), try WebhookReceiver())
        let secret = try await scene.api.declareWebhook("watcher", url: watcher.url, events: ["webhook.disabled"])
        try await disable(receiver, in: scene, events: ["job.created", "webhook.disabled"])
        let webhook = try await scene.api.get(Self.path).json
        let told = try await watcher.waitFor("webhook.disabled")
        #expect(told.isSigned(with: secret))
        #expect(told.data["webhook"] == "receiver")
        #expect(told.data["reason"] == webhook["disabled_reason"])
        #expect(told.data["job"] == nil)
        let events = try await scene.api.events().filter { $0["type"] == "webhook.disabled" }
        #expect(events.map { $0["id"] } == [told.data["event"]])
        #expect(events.map { $0["session"] } == ["default"])
        #expect(events[0]["data"]["webhook"] == "receiver")
        // The disabled webhook gets no notification.
        #expect(receiver.received.map(\.type) == ["job.created"])
        try await scene.api.waitForSettledDeliveries(to: "watcher")
        #expect(watcher.received.count == 1)
    }

    @Test func deliversNewEventsAndRecoversOthersWhenEnabled() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await disable(receiver, in: scene, events: ["job.created", "job.succeeded"])
        #expect(receiver.received.count == 1)
        let enabled = try await scene.api.act("enable")
        #expect(enabled.status == 200)
        #expect(enabled.json["state"] == "enabled")
        #expect(enabled.json["disabled_reason"] == nil)
        #expect(try await scene.api.get(Self.path).json == enabled.json)
        let cancelled = try await scene.api.waitForSettledDeliveries()
        #expect(cancelled.allSatisfy { $0["state"] == "cancelled" })

        let second = try await scene.api.submit(scene.order())
        let received = try await receiver.waitFor(count: 3)
        #expect(received[1...].allSatisfy { $0.data["job"] == .string(second) })
        // A delivery in progress is not sent twice by a recovery.
        try await scene.api.waitForSettledDeliveries()
        #expect(try await scene.api.act("recover", ["after": 0]).json == ["recovered": 4])
        _ = try await receiver.waitFor(count: 7)
        let log = try await scene.api.waitForSettledDeliveries()
        #expect(log.count == 4)
        #expect(log.allSatisfy { $0["state"] == "acknowledged" })
        #expect(receiver.received[0].id == log.last?["id"].string)
        #expect(Set(receiver.received.map(\.id)).count == 4)
    }

    @Test func enablesWebhookWhenDeclaredAgain() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await disable(receiver, in: scene, events: ["job.created"])
        let replaced = try await scene.api.put(Self.path, ["url": .string(receiver.url), "events": ["job.created"]])
        #expect(replaced.status == 200)
        #expect(replaced.json["state"] == "enabled")
        let job = try await scene.api.submit(scene.order())
        #expect(try await receiver.waitFor(count: 2)[1].data["job"] == .string(job))
    }

    @Test func changesNothingWhenEnablingEnabledWebhook() async throws {
        let scene = try await Scene()
        try await scene.api.declareWebhook(url: "https://consumer.example/")
        let before = try await scene.api.get(Self.path).json
        let enabled = try await scene.api.act("enable")
        #expect(enabled.status == 200)
        #expect(enabled.json == before)
    }

    /// Events during that time are not addressed to the webhook, so enabling it sends no backlog.
    @Test func addressesNoEventsWhileDisabled() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await disable(receiver, in: scene, events: ["job.created"])
        #expect(try await scene.api.deliveries().count == 1)
        try await scene.api.submit(scene.order())
        #expect(try await scene.api.deliveries().count == 1)
        #expect(try await scene.api.act("enable").status == 200)
        #expect(try await scene.api.act("recover", ["after": 0]).json == ["recovered": 2])
        _ = try await receiver.waitFor("job.created", count: 3)
    }
}
