import Downloads
import Formats
import TestKit
import Testing

/// `POST /v1/deliveries/{id}/redeliver`: sends a delivery again on request, whatever its state.
@Suite struct RedeliveryTests {
    /// A delivery of `webhook.test`, once it satisfies the condition.
    private func delivery(
        _ scene: Scene, to receiver: WebhookReceiver, toBe what: String,
        _ isWanted: (JSON) -> Bool
    ) async throws -> JSON {
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        return try await scene.api.waitForDelivery(of: "webhook.test", toBe: what, isWanted)
    }

    private func redeliver(_ delivery: JSON, in scene: Scene) async throws {
        let answer = try await scene.api.redeliver(delivery)
        #expect(answer.status == 200)
        #expect(answer.json["id"] == delivery["id"])
        #expect(answer.json["event"] == delivery["event"])
    }

    private func waitForAttempts(
        _ count: Int, _ state: Delivery.State.Kind, in scene: Scene
    ) async throws -> JSON {
        try await scene.api.waitForDelivery(of: "webhook.test", toBe: "\(state) after \(count) attempts") {
            $0["attempts"].count == count && $0["state"] == .string(state.rawValue)
        }
    }

    @Test func redeliversAcknowledgedDeliveryWithSameIDAndBody() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        let taken = try await delivery(scene, to: receiver, toBe: "acknowledged") { $0["state"] == "acknowledged" }
        try await redeliver(taken, in: scene)
        let posted = try await receiver.waitFor("webhook.test", count: 2)
        #expect(Set(posted.map(\.id)) == [taken["id"].string])
        #expect(posted[0].bytes == posted[1].bytes)
        let again = try await waitForAttempts(2, .acknowledged, in: scene)
        #expect(again["attempts"][0] == taken["attempts"][0])
    }

    @Test func redeliversExhaustedDeliveryWithFullSchedule() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0, 0.01, 0.01]), try WebhookReceiver())
        receiver.answer(500, to: 1...6)
        let exhausted = try await delivery(scene, to: receiver, toBe: "exhausted") { $0["state"] == "exhausted" }
        #expect(exhausted["attempts"].count == 3)
        try await redeliver(exhausted, in: scene)
        _ = try await waitForAttempts(6, .exhausted, in: scene)
        try await redeliver(exhausted, in: scene)
        let taken = try await waitForAttempts(7, .acknowledged, in: scene)
        #expect(taken["attempts"].arrayValue?.map { $0["status"] } == [500, 500, 500, 500, 500, 500, 204])
        #expect(Set(receiver.received.map(\.id)) == [exhausted["id"].string])
    }

    @Test func redeliversPendingDeliveryAtOnceAndRestartsSchedule() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.answer(500, to: 1...2)
        let parked = try await delivery(scene, to: receiver, toBe: "parked") { $0["attempts"].count == 1 }
        #expect(parked["state"] == "pending")
        try await redeliver(parked, in: scene)
        // If the first attempt still counted, this would have been the last.
        let again = try await waitForAttempts(2, .pending, in: scene)
        #expect(again["next_attempt_at"] != parked["next_attempt_at"])
        try await redeliver(parked, in: scene)
        _ = try await waitForAttempts(3, .acknowledged, in: scene)
    }

    @Test func redeliversCancelledDeliveryOnceWebhookIsEnabled() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.answer(410, to: 1...1)
        let cancelled = try await delivery(scene, to: receiver, toBe: "cancelled") { $0["state"] == "cancelled" }
        let refused = try await scene.api.redeliver(cancelled)
        #expect(refused.status == 409)
        #expect(refused.problem == .init(kind: "state-conflict"))
        #expect(try await scene.api.act("enable").status == 200)
        try await redeliver(cancelled, in: scene)
        let taken = try await waitForAttempts(2, .acknowledged, in: scene)
        #expect(taken["attempts"].arrayValue?.map { $0["status"] } == [410, 204])
    }

    @Test func answers409ForRedeliveryToDeletedWebhook() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        let taken = try await delivery(scene, to: receiver, toBe: "acknowledged") { $0["state"] == "acknowledged" }
        #expect(try await scene.api.delete("/v1/sessions/default/webhooks/receiver").status == 204)
        // A webhook declared again under that name is another webhook.
        for isDeclaredAgain in [false, true] {
            if isDeclaredAgain { try await scene.api.declareWebhook(url: receiver.url) }
            let refused = try await scene.api.redeliver(taken)
            #expect(refused.status == 409)
            #expect(refused.problem == .init(kind: "state-conflict"))
        }
        let after = try await scene.api.delivery(taken["id"].string).json
        #expect(after["state"] == taken["state"] && after["attempts"].count == taken["attempts"].count)
        #expect(receiver.received.count == 1)
    }

    @Test func keepsFinishAcknowledgedDuringRedelivery() async throws {
        let (scene, receiver, gate) = (try await Scene.delivering(), try WebhookReceiver(), Gate())
        receiver.answer(204, to: 2...2, after: gate)
        try await scene.api.declareWebhook(url: receiver.url)
        try await scene.api.submit(scene.order())
        let taken = try await scene.api.waitForDelivery(of: "session.finished", toBe: .acknowledged)
        try await redeliver(taken, in: scene)
        #expect(await gate.reached())
        #expect(try await scene.api.session()["unacknowledged_since"] == nil)
        gate.open()
        try await scene.api.waitForDelivery(of: "session.finished", toBe: "taken twice") {
            $0["state"] == "acknowledged" && $0["attempts"].count == 2
        }
    }
}
