import TestKit
import Testing

/// `POST .../test`: sends a test event to one webhook only.
@Suite struct TestEventTests {
    @Test func sendsSignedTestEventToOneWebhookRegardlessOfItsPatterns() async throws {
        let (scene, receiver, other) = (try await Scene(), try WebhookReceiver(), try WebhookReceiver())
        let secret = try await scene.api.declareWebhook(url: receiver.url, events: ["job.failed"])
        try await scene.api.declareWebhook("other", url: other.url, events: ["webhook.test", "job.*", "session.*"])
        let answer = try await scene.api.act("test")
        #expect(answer.status == 200)
        #expect(answer.json["type"] == "webhook.test")
        #expect(answer.json["webhook"] == "receiver")
        #expect(answer.json["session"] == "default")
        #expect(answer.json["state"] == "pending")
        #expect(answer.json["attempts"] == [])
        let posted = try await receiver.waitFor("webhook.test")
        #expect(posted.id == answer.json["id"].string)
        #expect(posted.isSigned(with: secret))
        #expect(posted.data["event"] == answer.json["event"])
        #expect(posted.data["webhook"] == "receiver")
        #expect(posted.data["job"] == nil)
        try await scene.api.waitForDelivery(of: "webhook.test", toBe: .acknowledged)
        // The other webhook's first request is its own test event.
        let own = try await scene.api.act("test", on: "other")
        #expect(try await other.waitFor("webhook.test").id == own.json["id"].string)
        try await scene.api.waitForSettledDeliveries(to: "other")
        #expect(other.received.count == 1)
        #expect(receiver.received.count == 1)
    }

    @Test func writesTestEventToJournal() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url)
        let delivery = try await scene.api.act("test").json
        let events = try await scene.api.events()
        #expect(events.map { $0["type"] } == ["webhook.test"])
        #expect(events[0]["id"] == delivery["event"])
        #expect(events[0]["session"] == "default")
        #expect(events[0]["data"] == ["webhook": "receiver"])
    }

    @Test func delaysNoFinishForFailedTestEvent() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.refuse("webhook.test")
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        try await scene.api.waitForDelivery(of: "webhook.test", toBe: "parked") {
            $0["state"] == "pending" && $0["attempts"].count == 1
        }
        try await scene.api.submit(scene.order())
        _ = try await receiver.waitFor("session.finished")
        #expect(receiver.received.map(\.type).prefix(2) == ["webhook.test", "session.finished"])
    }

    @Test func delaysNoFinishForRunningTestEvent() async throws {
        let (scene, receiver, gate) = (try await Scene.delivering(), try WebhookReceiver(), Gate())
        receiver.answer(204, to: 1...1, after: gate)
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        #expect(await gate.reached())
        try await scene.api.submit(scene.order())
        try await scene.api.waitForDelivery(of: "session.finished", toBe: .acknowledged)
        try await scene.api.waitForDelivery(of: "webhook.test", toBe: .pending)
        gate.open()
        try await scene.api.waitForDelivery(of: "webhook.test", toBe: .acknowledged)
    }

    @Test func answers409ForTestEventWhileDisabled() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        receiver.answer(410, to: 1...1)
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        try await scene.api.waitForDelivery(of: "webhook.test", toBe: .cancelled)
        let refused = try await scene.api.act("test")
        #expect(refused.status == 409)
        #expect(refused.problem == .init(kind: "state-conflict"))
        #expect(refused.json["detail"].string?.contains("enable") == true)
        let tests = try await scene.api.events().filter { $0["type"] == "webhook.test" }
        #expect(tests.count == 1)
    }

    @Test func answers404ForActionsOnUnknownWebhook() async throws {
        let scene = try await Scene()
        for action in ["test", "rotate-secret", "enable"] {
            #expect(try await scene.api.act(action).problem == .init(kind: "not-found"))
            let elsewhere = try await scene.api.post("/v1/sessions/nowhere/webhooks/receiver/\(action)")
            #expect(elsewhere.problem == .init(kind: "not-found"))
        }
        #expect(try await scene.api.act("recover", ["after": 0]).problem == .init(kind: "not-found"))
        #expect(try await scene.isUntouched())
    }
}
