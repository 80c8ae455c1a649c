import Formats
import Foundation
import TestKit
import Testing

/// A consumer that only knows Standard Webhooks, with the package from PyPI: examples/webhook_receiver.py.
@Suite(.enabled("needs PyPI's standardwebhooks: run scripts/setup") { await Consumer.isPossible })
struct WebhookReceiverExampleTests {
    @Test func verifiesDeliveriesOfService() async throws {
        let (fetchd, origin, consumer) = (try await FetchdProcess.start(), try Origin(), try await Consumer())
        origin.serve("/file", .file(Content.random(seed: 3, count: 50_000)))
        let url = try await consumer.url
        try consumer.keep(try await fetchd.api.declareWebhook(url: url, events: ["job.*", "session.finished"]))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/file"))])
        // It exits by itself after it has verified the finish.
        #expect(try await consumer.child.waitForEnd() == .exited(0))
        let taken = try consumer.taken
        let types = Set(taken.map { $0["type"].string })
        #expect(types == ["job.created", "job.started", "job.succeeded", "session.finished"])
        // Several deliveries run at once, but the finish comes last.
        #expect(taken.last?["type"] == "session.finished")
        #expect(taken.filter { $0["data"]["job"] == .string(id) }.count == 3)
        let log = "/v1/sessions/default/webhooks/receiver/deliveries"
        let deliveries = try await eventually("every delivery to be acknowledged") {
            let deliveries = try await fetchd.api.get(log).json["deliveries"].arrayValue ?? []
            return deliveries.allSatisfy { $0["state"] == "acknowledged" } ? deliveries : nil
        }
        #expect(deliveries.count == 4)
        let session = try await fetchd.api.session()
        #expect(session["unacknowledged_since"] == nil)
    }

    /// Delivery is at least once; the consumer processes an event once.
    @Test func processesRedeliveredEventOnce() async throws {
        let (fetchd, consumer) = (try await FetchdProcess.start(), try await Consumer())
        let url = try await consumer.url
        try consumer.keep(try await fetchd.api.declareWebhook(url: url, events: ["job.*", "session.finished"]))
        let id = try await fetchd.api.submit(["url": "http://127.0.0.1:1/", "not_before": "2999-01-01T00:00:00Z"])
        let log = "/v1/sessions/default/webhooks/receiver/deliveries"
        func deliveries(attempts: Int) async throws -> [JSON] {
            try await eventually("everything to be acknowledged, after \(attempts) attempts") {
                let deliveries = try await fetchd.api.get(log).json["deliveries"].arrayValue ?? []
                let isDone = deliveries.allSatisfy { $0["state"] == "acknowledged" && $0["attempts"].count == attempts }
                return isDone && !deliveries.isEmpty ? deliveries : nil
            }
        }
        let first = try #require(try await deliveries(attempts: 1).first)
        #expect(first["type"] == "job.created")
        let delivery = try #require(first["id"].string)
        #expect(try await fetchd.api.post("/v1/deliveries/\(delivery)/redeliver").status == 200)
        _ = try await deliveries(attempts: 2)
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/cancel").status == 200)
        #expect(try await consumer.child.waitForEnd() == .exited(0))
        #expect(try consumer.taken.map { $0["type"] } == ["job.created", "job.cancelled", "session.finished"])
    }

    /// A replayed request has a valid signature, and is refused all the same.
    @Test func refusesOldTimestamp() async throws {
        let (secret, body) = ("whsec_" + String(repeating: "QUFB", count: 11), #"{"type": "job.created", "data": {}}"#)
        let consumer = try await Consumer()
        try consumer.keep(secret)
        let client = APIClient(baseURL: try await consumer.url, isRecorded: false)
        for (age, status) in [(0.0, 204), (-3600, 401), (3600, 401)] {
            let moment = Date(timeIntervalSinceNow: age)
            let headers = [
                (name: "webhook-id", value: "msg_1"), ("webhook-timestamp", "\(Int(moment.timeIntervalSince1970))"),
                ("webhook-signature", try await signature(of: body, at: moment, with: secret)),
            ]
            let answer = try await client.send("POST", "", bytes: Array(body.utf8), headers: headers)
            #expect(answer.status == status, "\(age) s")
        }
    }

    /// The signature that PyPI's package computes.
    private func signature(of body: String, at moment: Date, with secret: String) async throws -> String {
        let program = """
            import sys; from datetime import datetime, timezone; from standardwebhooks import Webhook
            at = datetime.fromtimestamp(int(sys.argv[2]), timezone.utc)
            print(Webhook(sys.argv[1]).sign("msg_1", at, sys.argv[3]))
            """
        let arguments = ["-c", program, secret, "\(Int(moment.timeIntervalSince1970))", body]
        let outcome = try await ChildProcess.run(Project.python, arguments)
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The consumer accepts the original request, and refuses it with any changed byte.
    @Test func refusesChangedByteTimestampOrID() async throws {
        let (fetchd, receiver) = (try await FetchdProcess.start(), try WebhookReceiver())
        let consumer = try await Consumer()
        let secret = try await fetchd.api.declareWebhook(url: receiver.url, events: ["job.created"])
        try consumer.keep(secret)
        try await fetchd.api.submit(["url": "http://127.0.0.1:1/"])
        let posted = try await receiver.waitFor("job.created")
        #expect(posted.isSigned(with: secret))

        let client = APIClient(baseURL: try await consumer.url, isRecorded: false)
        func post(_ body: [UInt8], id: String? = nil, later seconds: Int = 0) async throws -> Int {
            let timestamp = Int(posted.request.header("webhook-timestamp") ?? "").map { String($0 + seconds) }
            let headers = [
                (name: "webhook-id", value: id ?? posted.id ?? ""),
                ("webhook-timestamp", timestamp ?? ""),
                ("webhook-signature", posted.request.header("webhook-signature") ?? ""),
            ]
            return try await client.send("POST", "", bytes: body, headers: headers).status
        }
        for index in [0, posted.bytes.count / 2, posted.bytes.count - 1] {
            var body = posted.bytes
            body[index] ^= 1
            #expect(try await post(body) == 401, "byte \(index)")
        }
        #expect(try await post(posted.bytes + [0x20]) == 401)
        #expect(try await post(posted.bytes, later: 1) == 401)
        #expect(try await post(posted.bytes, id: "dlv_another") == 401)
        #expect(try await post(posted.bytes) == 204)
    }
}
