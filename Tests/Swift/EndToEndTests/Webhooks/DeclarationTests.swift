import Formats
import TestKit
import Testing

/// Declaring a webhook again, and deleting it: what happens to its secret, event patterns and pending deliveries.
@Suite struct DeclarationTests {
    private static let path = "/v1/sessions/default/webhooks/receiver"
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

    private func body(_ receiver: WebhookReceiver, _ members: (String, JSON)...) -> JSON {
        var body: JSONObject = ["url": .string(receiver.url)]
        for (name, value) in members { body[name] = value }
        return .object(body)
    }

    @Test func keepsSecretWhenReplacedWithoutOne() async throws {
        let (scene, first, second) = (try await Scene(), try WebhookReceiver(), try WebhookReceiver())
        let created = try await scene.api.put(Self.path, body(first))
        #expect(created.status == 201)
        let secret = try #require(created.json["secret"].string)
        let replaced = try await scene.api.put(Self.path, body(second))
        #expect(replaced.status == 200)
        #expect(!replaced.json.names.contains("secret"))
        #expect(replaced.json["url"] == .string(second.url))
        #expect(try await scene.api.act("test").status == 200)
        let posted = try await second.waitFor("webhook.test")
        #expect(posted.isSigned(with: secret))
        #expect(posted.signatureCount == 1)
        #expect(first.received.isEmpty)
    }

    @Test func signsOnlyWithSecretGivenInReplacement() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let old = try await scene.api.declareWebhook(url: receiver.url)
        let replaced = try await scene.api.put(Self.path, body(receiver, ("secret", .string(Self.secret))))
        #expect(replaced.status == 200)
        #expect(!replaced.json.names.contains("secret"))
        #expect(try await scene.api.act("test").status == 200)
        let posted = try await receiver.waitFor("webhook.test")
        #expect(posted.isSigned(with: Self.secret))
        #expect(!posted.isSigned(with: old))
        #expect(posted.signatureCount == 1)
    }

    @Test func appliesReplacedEventPatternsToLaterEvents() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.created"])
        try await scene.api.submit(scene.order("/held"))
        _ = try await receiver.waitFor("job.created")
        let replaced = try await scene.api.put(Self.path, body(receiver, ("events", ["job.succeeded"])))
        #expect(replaced.json["events"] == ["job.succeeded"])
        scene.gate.open()
        _ = try await receiver.waitFor("job.succeeded")
        // The finish matches no pattern, as it happens before the next replacement.
        try await scene.api.waitForFinish(of: "default")
        // Left out, they are the default again: a replacement says all there is to say.
        #expect(try await scene.api.put(Self.path, body(receiver)).json["events"] == ["session.*"])
        #expect(receiver.received.map(\.type) == ["job.created", "job.succeeded"])
    }

    @Test func listsWebhooksOfOneSessionByName() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("other")
        for name in ["b", "c", "a"] {
            try await scene.api.declareWebhook(name, url: "https://consumer.example/\(name)")
        }
        try await scene.api.declareWebhook("d", of: "other", url: "https://consumer.example/d")
        let list = try await scene.api.get("/v1/sessions/default/webhooks").json["webhooks"].arrayValue ?? []
        #expect(list.map { $0["name"] } == ["a", "b", "c"])
        #expect(list.allSatisfy { $0["session"] == "default" && $0["state"] == "enabled" })
        #expect(list.allSatisfy { !$0.names.contains("secret") })
        // The same name in two sessions is two webhooks.
        let other = try await scene.api.put("/v1/sessions/other/webhooks/a", ["url": "https://consumer.example/e"])
        #expect(other.status == 201)
        #expect(try await scene.api.get("/v1/sessions/default/webhooks/a").json == list[0])
    }

    @Test func cancelsPendingDeliveriesAndKeepsLogWhenDeleted() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.refuse("job.succeeded")
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.*", "session.finished"])
        try await scene.api.submit(scene.order("/held"))
        // Accepted before any refusal: a later success would send pending deliveries at once.
        for type in ["job.created", "job.started"] {
            try await scene.api.waitForDelivery(of: type, toBe: .acknowledged)
        }
        scene.gate.open()
        let parked = try await scene.api.waitForDelivery(of: "job.succeeded", toBe: "parked") {
            $0["attempts"].count == 1
        }
        try await scene.api.waitForDelivery(of: "session.finished", toBe: .pending)
        let before = try await scene.api.deliveries()
        #expect(try await scene.api.delete(Self.path).status == 204)
        #expect(try await scene.api.get("\(Self.path)/deliveries").status == 404)
        #expect(try await scene.api.get("/v1/sessions/default/webhooks").json["webhooks"] == [])
        for delivery in before {
            let after = try await scene.api.delivery(delivery["id"].string)
            #expect(after.status == 200)
            #expect(after.json["state"] == (delivery["state"] == "pending" ? "cancelled" : "acknowledged"))
            let attempts = (after.json["attempts"].arrayValue ?? []).map { $0["at"] }
            #expect(attempts == (delivery["attempts"].arrayValue ?? []).map { $0["at"] })
            #expect(after.json["next_attempt_at"] == nil)
        }
        #expect(parked["attempts"].count == 1)
    }

    @Test func startsWithNewSecretAndEmptyLogWhenRedeclaredAfterDeletion() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        let old = try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        _ = try await receiver.waitFor("webhook.test")
        #expect(try await scene.api.delete(Self.path).status == 204)
        let new = try await scene.api.declareWebhook(url: receiver.url)
        #expect(new != old)
        #expect(try await scene.api.deliveries() == [])
        try await scene.api.submit(scene.order())
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.isSigned(with: new))
        #expect(!finish.isSigned(with: old))
    }
}
