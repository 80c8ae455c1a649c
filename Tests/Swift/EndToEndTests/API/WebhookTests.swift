import Formats
import TestKit
import Testing
import Webhooks

/// `/v1/sessions/{session}/webhooks`: declaring endpoints, and their delivery log.
@Suite struct WebhookTests {
    private let path = "/v1/sessions/default/webhooks/consumer"

    @Test func showsGeneratedSecretOnlyOnce() async throws {
        let scene = try await Scene()
        let new = try await scene.api.put(path, ["url": "https://consumer.example/a"])
        #expect(new.status == 201)
        #expect(new.json["secret"].string?.hasPrefix("whsec_") == true)
        #expect(new.json["events"] == ["session.*"])
        let again = try await scene.api.put(path, ["url": "https://consumer.example/b", "events": ["job.failed"]])
        #expect(again.status == 200)
        let expected = again.json
        #expect(expected["secret"] == nil)
        #expect(expected["url"] == "https://consumer.example/b")
        #expect(expected["created_at"] == new.json["created_at"])
        #expect(try await scene.api.get(path).json == expected)
        #expect(try await scene.api.get("/v1/sessions/default/webhooks").json["webhooks"] == [expected])
    }

    @Test func acceptsSecretGivenByClient() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
        let told = try await scene.api.declareWebhook(url: receiver.url, secret: secret)
        #expect(told == secret)
        try await scene.api.submit(scene.order())
        #expect(try await receiver.waitFor("session.finished").isSigned(with: secret))
    }

    @Test func showsNamesButNeverValuesOfHeaders() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        let path = "/v1/sessions/default/webhooks/receiver"
        let body: JSON = [
            "url": .string(receiver.url), "headers": ["X-Key": "hunter2hunter2", "X-Tenant": "films"],
        ]
        receiver.answer(500, body: "No: hunter2hunter2", to: 1...1)
        let new = try await scene.api.put(path, body)
        #expect(new.status == 201)
        #expect(new.json["header_names"] == ["X-Key", "X-Tenant"])
        #expect(new.json["tls"] == ["ca_file": nil, "pinned_public_keys": [:], "verify": true])
        #expect(new.json["statistics"]["attempts"] == 0 && new.json["statistics"]["success_rate"] == nil)
        let test = try await scene.api.post("\(path)/test")
        #expect(try await receiver.waitFor(count: 1)[0].request.header("X-Key") == "hunter2hunter2")
        let attempted = try await eventually("the attempt to be counted") {
            let webhook = try await scene.api.get(path)
            return webhook.json["statistics"]["attempts"] == 1 ? webhook : nil
        }
        #expect(attempted.json["statistics"]["success_rate"] == 0)
        #expect(attempted.json["statistics"]["pending"] == 1)
        #expect(attempted.json["statistics"]["oldest_pending_at"].string != nil)
        let answers = [
            new, attempted, test, try await scene.api.put(path, body), try await scene.api.get("\(path)/deliveries"),
            try await scene.api.get("/v1/sessions/default/webhooks"), try await scene.api.post("\(path)/rotate-secret"),
            try await scene.api.post("\(path)/enable"), try await scene.api.get("/v1/events?after=0"),
        ]
        for answer in answers {
            #expect([200, 201].contains(answer.status))
            #expect(!answer.json.written.contains("hunter2"), "\(answer)")
        }
        #expect(!scene.fetchd.log.contains("hunter2"))
    }

    @Test func answers422WithPointerForInvalidWebhookAndStoresNothing() async throws {
        let scene = try await Scene()
        for refusal in Refusal.webhook {
            let good: JSON = ["url": "https://consumer.example/"]
            let answer = try await scene.api.put(path, good.with(refusal.members))
            #expect(answer.status == 422, "\(refusal.members)")
            #expect(answer.problem == refusal.problem, "\(answer)")
        }
        #expect(try await scene.api.put(path).problem == .init(kind: "malformed-json"))
        let plain = try await scene.api.send("PUT", path, [:], headers: [("Content-Type", "text/plain")])
        #expect(plain.status == 415)
        #expect(try await scene.api.get("/v1/sessions/default/webhooks").json["webhooks"] == [])
    }

    @Test func answers404ForUnknownWebhookOrSession() async throws {
        let scene = try await Scene()
        let endpoint: JSON = ["url": "https://consumer.example/"]
        let answers = [
            try await scene.api.get(path),
            try await scene.api.delete(path),
            try await scene.api.get("\(path)/deliveries"),
            try await scene.api.get("/v1/sessions/nowhere/webhooks"),
            try await scene.api.put("/v1/sessions/nowhere/webhooks/consumer", endpoint),
            try await scene.api.put("/v1/sessions/default/webhooks/no%20name", endpoint),
        ]
        for answer in answers {
            #expect(answer.status == 404)
            #expect(answer.problem == .init(kind: "not-found"))
        }
    }

    @Test func sendsNothingToDeletedWebhook() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.*"])
        let id = try await scene.api.submit(scene.order("/held"))
        _ = try await receiver.waitFor("job.started")
        let deleted = try await scene.api.delete("/v1/sessions/default/webhooks/receiver")
        #expect(deleted.status == 204)
        #expect(deleted.body.isEmpty)
        #expect(try await scene.api.delete("/v1/sessions/default/webhooks/receiver").status == 404)
        // Another webhook gets the event that the deleted one would have got.
        let other = try WebhookReceiver()
        try await scene.api.declareWebhook(url: other.url, events: ["job.succeeded"])
        scene.gate.open()
        #expect(try await other.waitFor("job.succeeded").data["job"] == .string(id))
        #expect(other.received.count == 1)
        #expect(receiver.received.allSatisfy { $0.type != "job.succeeded" })
    }

    @Test func listsEveryAttemptInDeliveryLog() async throws {
        let scene = try await Scene(.init { $0.webhooks.schedule = RetrySchedule(delays: [0, 0.01, 0.01]) })
        let receiver = try WebhookReceiver()
        receiver.answer(503, body: "Restarting.", to: 1...1)
        try await scene.api.declareWebhook(url: receiver.url)
        try await scene.api.submit(scene.order())
        _ = try await receiver.waitFor("session.finished", count: 2)
        let log = "/v1/sessions/default/webhooks/receiver/deliveries"
        let delivery = try await eventually("the acknowledgement") {
            let delivery = try await scene.api.get(log).json["deliveries"][0]
            return delivery["state"] == "acknowledged" ? delivery : JSON?.none
        }
        #expect(delivery["type"] == "session.finished")
        #expect(delivery["next_attempt_at"] == nil)
        #expect(delivery["attempts"].arrayValue?.map { $0["status"] } == [503, 204])
        #expect(delivery["attempts"][0]["response"] == nil)
        #expect(delivery["attempts"][0]["error"].string?.contains("503") == true)
        #expect(delivery["attempts"][1]["error"] == nil)
        #expect(Set(receiver.received.map(\.id)) == [delivery["id"].string])
    }

    @Test func pagesDeliveryLogNewestFirst() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.created"])
        let jobs = Array(repeating: scene.order("/missing"), count: 25)
        _ = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        _ = try await receiver.waitFor("job.created", count: 25)
        let pages = try await scene.api.pages(
            of: "deliveries", at: "/v1/sessions/default/webhooks/receiver/deliveries", limit: 10)
        #expect(pages.map(\.count) == [10, 10, 5])
        let events = pages.flatMap { $0 }.compactMap { $0["event"].integer }
        #expect(events == events.sorted(by: >) && Set(events).count == 25)
    }

    @Test(arguments: ["limit=0", "limit=1001", "limit=ten", "cursor=%21", "cursor=YWJj", "page=2", "limit=1&limit=2"])
    func refusesInvalidDeliveryLogParameters(_ query: String) async throws {
        let scene = try await Scene()
        try await scene.api.declareWebhook("consumer", url: "https://consumer.example/")
        let answer = try await scene.api.get("\(path)/deliveries?\(query)")
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: query.hasPrefix("page") ? "unknown-field" : "invalid-value"))
    }
}
