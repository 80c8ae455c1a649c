import TestKit
import Testing

/// The delivery log: what was sent, and what the endpoint answered.
@Suite struct DeliveryLogTests {
    private static let log = "/v1/sessions/default/webhooks/receiver/deliveries"

    @Test func recordsStatusAndLatencyOfEveryAttempt() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0, 0.02, 0.02, 0.02]), try WebhookReceiver())
        receiver.answer(503, body: "Restarting.", to: 1...1)
        receiver.answer(404, to: 2...2)
        receiver.answer(to: 3...3) { _ in OriginAnswer(status: 200, body: Array("Thank you.".utf8)) }
        try await scene.api.declareWebhook(url: receiver.url)
        let id = try #require(try await scene.api.act("test").json["id"].string)
        let delivery = try await scene.api.waitForDelivery(of: "webhook.test", toBe: .acknowledged)
        let names: Set = [
            "id", "webhook", "session", "event", "type", "state", "attempts", "next_attempt_at", "blocked_by",
        ]
        #expect(Set(delivery.names) == names)
        #expect(delivery["blocked_by"] == nil)
        #expect(delivery["id"] == .string(id))
        #expect(delivery["next_attempt_at"] == nil)
        let attempts = delivery["attempts"].arrayValue ?? []
        #expect(attempts.map { $0["status"] } == [503, 404, 200])
        // The endpoint has an internal address, so the log has nothing of its responses.
        #expect(attempts.allSatisfy { $0["response"] == nil })
        #expect(attempts.map { $0["error"] == nil } == [false, false, true])
        #expect(attempts.allSatisfy { ($0["latency_seconds"].numberValue ?? -1) >= 0 })
        let times = attempts.compactMap { $0["at"].string }
        #expect(times.count == 3 && times == times.sorted())
        let whole = try await scene.api.get("/v1/deliveries/\(id)").json
        #expect(whole["body"]["type"] == "webhook.test" && whole["body"]["data"]["event"] == whole["event"])
        let request = whole["attempts"][0]["request"]
        #expect(request["url"].string == receiver.url)
        #expect(request["headers"].arrayValue?.contains(["name": "webhook-id", "value": .string(id)]) == true)
        #expect(whole["attempts"][0]["response_headers"] == nil)
        for name in names.subtracting(["attempts"]) { #expect(whole[name] == delivery[name]) }
    }

    @Test func recordsConnectionErrorWithoutStatus() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.stop()
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        let delivery = try await scene.api.waitForDelivery(of: "webhook.test", toBe: "tried") {
            $0["attempts"].count == 1
        }
        #expect(delivery["state"] == "pending")
        #expect(delivery["next_attempt_at"] != .null)
        #expect(delivery["attempts"][0]["status"] == nil)
        #expect(delivery["attempts"][0]["response"] == nil)
        #expect(delivery["attempts"][0]["error"].string?.isEmpty == false)
    }

    @Test func pagesDeliveriesByState() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0, 0.01]), try WebhookReceiver())
        receiver.refuse("job.started")
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.created", "job.started"])
        let orders = Array(repeating: scene.order(), count: 7)
        #expect(try await scene.api.post("/v1/jobs/batch", ["jobs": .array(orders)]).status == 201)
        let all = try await eventually("fourteen deliveries to be settled") {
            let log = try await scene.api.deliveries()
            return log.count == 14 && log.allSatisfy { $0["state"] != "pending" } ? log : nil
        }
        for state in ["acknowledged", "exhausted"] {
            let pages = try await scene.api.pages(of: "deliveries", at: "\(Self.log)?state=\(state)", limit: 3)
            #expect(pages.map(\.count) == [3, 3, 1])
            #expect(pages.flatMap { $0 } == all.filter { $0["state"] == .string(state) })
        }
        #expect(try await scene.api.deliveries(matching: "state=pending") == [])
        #expect(try await scene.api.deliveries(matching: "state=cancelled") == [])
        let refused = try await scene.api.get("\(Self.log)?state=lost")
        #expect(refused.status == 422)
        #expect(refused.problem == .init(kind: "invalid-value"))
    }

    @Test func answers404ForUnknownDelivery() async throws {
        let scene = try await Scene()
        let answers = [
            try await scene.api.delivery("dlv_01K0000000000000000000000"),
            try await scene.api.post("/v1/deliveries/dlv_01K0000000000000000000000/redeliver"),
        ]
        for answer in answers {
            #expect(answer.status == 404)
            #expect(answer.problem == .init(kind: "not-found"))
        }
    }

    @Test(.realProcess) func keepsDeliveryLogAfterKill() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.answer(500, body: "No.", to: 1...1)
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        let before = try await scene.api.waitForDelivery(of: "webhook.test", toBe: "tried") {
            $0["attempts"].count == 1
        }
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await scene.api.deliveries() == [before])
    }
}
