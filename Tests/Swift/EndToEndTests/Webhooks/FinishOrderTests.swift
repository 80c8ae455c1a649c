import TestKit
import Testing

/// A finish is posted when every earlier event of its webhook was delivered or given up. Consumers rely on that order.
@Suite struct FinishOrderTests {
    @Test func postsFinishAfterRetriedEventsAreDelivered() async throws {
        let (scene, receiver) = (try await Scene.delivering(), try WebhookReceiver())
        receiver.refuse("job.succeeded", times: 3)
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.*", "session.finished"])
        try await scene.api.submit(scene.order())
        _ = try await receiver.waitFor("session.finished")
        let types = receiver.received.map(\.type)
        #expect(types.count { $0 == "job.succeeded" } == 4)
        #expect(types.last == "session.finished")
        #expect(types.count == 7)
    }

    @Test func postsFinishAfterRunningDeliveries() async throws {
        let scene = try await Scene.delivering()
        let (receiver, witness, gate) = (try WebhookReceiver(), try WebhookReceiver(), Gate())
        receiver.answer(204, to: 1...1, after: gate)
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.succeeded", "session.finished"])
        try await scene.api.declareWebhook("witness", url: witness.url)
        try await scene.api.submit(scene.order())
        // The finish is in the journal, and delivered to the webhook that has nothing pending.
        _ = try await witness.waitFor("session.finished")
        let held = try await scene.api.deliveries(to: "receiver")
        #expect(held.map { $0["type"] } == ["session.finished", "job.succeeded"])
        #expect(held.map { $0["state"] } == ["pending", "pending"])
        #expect(held[0]["attempts"] == [])
        gate.open()
        _ = try await receiver.waitFor("session.finished")
        #expect(receiver.received.map(\.type) == ["job.succeeded", "session.finished"])
    }

    @Test func postsFinishAfterExhaustedDeliveries() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0, 0.02]), try WebhookReceiver())
        receiver.refuse("job.succeeded")
        // Without the job's other events, whose concurrent deliveries could arrive in any order.
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.succeeded", "session.finished"])
        try await scene.api.submit(scene.order())
        _ = try await receiver.waitFor("session.finished")
        #expect(receiver.received.map(\.type).suffix(2) == ["job.succeeded", "session.finished"])
        #expect(receiver.received.count { $0.type == "job.succeeded" } == 2)
        try await scene.api.waitForDelivery(of: "job.succeeded", toBe: .exhausted)
        try await scene.api.waitForDelivery(of: "session.finished", toBe: .acknowledged)
    }

    @Test func delaysFinishOnlyForWebhookWithPendingDeliveries() async throws {
        let scene = try await Scene.delivering(after: Scene.parking)
        let (sick, well) = (try WebhookReceiver(), try WebhookReceiver())
        sick.refuse("job.succeeded")
        for (name, receiver) in [("sick", sick), ("well", well)] {
            try await scene.api.declareWebhook(name, url: receiver.url, events: ["job.succeeded", "session.finished"])
        }
        try await scene.api.submit(scene.order())
        _ = try await well.waitFor("session.finished")
        #expect(well.received.map(\.type) == ["job.succeeded", "session.finished"])
        try await scene.api.waitForDelivery(of: "job.succeeded", to: "sick", toBe: "parked") {
            $0["state"] == "pending" && $0["attempts"].count == 1
        }
        let finish = try await scene.api.waitForDelivery(of: "session.finished", to: "sick", toBe: .pending)
        #expect(finish["attempts"] == [])
        // A finish addressed to both is acknowledged only when both have accepted it.
        try await scene.api.waitForDelivery(of: "session.finished", to: "well", toBe: .acknowledged)
        #expect(try await scene.api.session()["unacknowledged_since"] != .null)
    }

    @Test func sendsPendingDeliveriesAtOnceAfterSuccess() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0, 0.05, 3600]), try WebhookReceiver())
        receiver.refuse("job.created", times: 2)
        let events = ["job.created", "job.succeeded", "session.finished"]
        try await scene.api.declareWebhook(url: receiver.url, events: events)
        try await scene.api.submit(scene.order("/held"))
        let parked = try await scene.api.waitForDelivery(of: "job.created", toBe: "parked") {
            $0["attempts"].count == 2
        }
        #expect(parked["state"] == "pending")
        scene.gate.open()
        _ = try await receiver.waitFor("session.finished")
        let types = ["job.created", "job.created", "job.succeeded", "job.created", "session.finished"]
        #expect(receiver.received.map(\.type) == types)
        #expect(Set(receiver.received.filter { $0.type == "job.created" }.map(\.id)).count == 1)
        let log = try await scene.api.waitForSettledDeliveries()
        #expect(log.allSatisfy { $0["state"] == "acknowledged" })
    }

    @Test func postsNextFinishAfterThePreviousOne() async throws {
        let scene = try await Scene.delivering(after: Scene.parking)
        let (receiver, witness) = (try WebhookReceiver(), try WebhookReceiver())
        receiver.refuse("session.finished", times: 1)
        try await scene.api.declareWebhook(url: receiver.url)
        try await scene.api.declareWebhook("witness", url: witness.url)
        for batch in 1...2 {
            try await scene.api.submit(scene.order())
            _ = try await witness.waitFor("session.finished", count: batch)
        }
        let log = try await scene.api.deliveries()
        #expect(log.map { $0["state"] } == ["pending", "pending"])
        #expect(log[0]["attempts"] == [])
        #expect(try await scene.api.redeliver(log[1]).status == 200)
        let finishes = try await receiver.waitFor("session.finished", count: 3)
        #expect(finishes.map { $0.data["batch"] } == [1, 1, 2])
    }
}
