import Formats
import Foundation
import TestKit
import Testing
import Webhooks

/// Webhooks are delivered at least once, whatever the endpoint answers, and across restarts of fetchd.
@Suite struct DeliveryTests {
    private static let quick = LocalService.Options {
        $0.webhooks.schedule = RetrySchedule(delays: [0, 0.05, 0.05, 0.05, 0.05])
    }

    private func finished(_ fetchd: some TestedService) async throws -> String {
        let origin = try Origin()
        origin.serve("/f", .file(Content.random(seed: 12, count: 1000)))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f"))])
        try await fetchd.api.waitForJob(id, .succeeded)
        return id
    }

    private func deliveries(_ fetchd: some TestedService, _ webhook: String = "receiver") async throws -> [JSON] {
        try await fetchd.api.get("/v1/sessions/default/webhooks/\(webhook)/deliveries").json["deliveries"].arrayValue
            ?? []
    }

    @Test func retriesFailedDeliveryWithSameID() async throws {
        let (fetchd, receiver) = (try await LocalService.start(Self.quick), try WebhookReceiver())
        receiver.answer(500, to: 1...2)
        let secret = try await fetchd.api.declareWebhook(url: receiver.url)
        _ = try await finished(fetchd)
        _ = try await receiver.waitFor(count: 3)
        #expect(Set(receiver.received.compactMap(\.id)).count == 1)
        #expect(Set(receiver.received.map(\.bytes)).count == 1)
        #expect(receiver.received.allSatisfy { $0.isSigned(with: secret) })
        let log = try await eventually("the delivery to be acknowledged") {
            let log = try await deliveries(fetchd)
            return log.first?["state"] == "acknowledged" ? log : nil
        }
        #expect(log.first?["attempts"].arrayValue?.map { $0["status"] } == [500, 500, 204])
    }

    @Test func showsUndeliverableDeliveryAsExhausted() async throws {
        let (fetchd, receiver) = (try await LocalService.start(Self.quick), try WebhookReceiver())
        receiver.answer(302, to: 1...100)
        _ = try await fetchd.api.declareWebhook(url: receiver.url)
        _ = try await finished(fetchd)
        _ = try await eventually("the delivery to be exhausted") {
            try await deliveries(fetchd).first?["state"] == "exhausted" ? true : nil
        }
        #expect(receiver.received.count == 5)
        #expect(try await fetchd.api.session()["unacknowledged_since"] != .null)
    }

    @Test func deliversFinishToConsumerThatComesBackElsewhere() async throws {
        let fetchd = try await FetchdProcess.start(
            .init(arguments: [
                "--webhook-retry-delays", "0," + Array(repeating: "0.1", count: 300).joined(separator: ","),
            ]))
        let receiver = try WebhookReceiver()
        let url = receiver.url
        receiver.stop()
        _ = try await fetchd.api.declareWebhook(url: url)
        _ = try await finished(fetchd)
        _ = try await eventually("a failed attempt") {
            (try await deliveries(fetchd).first?["attempts"].count ?? 0) > 0 ? true : nil
        }
        try await fetchd.kill()
        try await fetchd.restart()
        // The consumer has moved: the same webhook name with another URL.
        let back = try WebhookReceiver()
        #expect(
            try await fetchd.api.put("/v1/sessions/default/webhooks/receiver", ["url": .string(back.url)]).status == 200
        )
        let finish = try await back.waitFor("session.finished")
        #expect(finish.data["counts"]["succeeded"] == 1)
    }

    @Test func deliversToOtherWebhooksWhenOneEndpointIsDead() async throws {
        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--webhook-retry-delays", "0,0.05,0.05,0.05,0.05"]))
        let (dead, alive) = (try WebhookReceiver(), try WebhookReceiver())
        dead.fallSilent()
        _ = try await fetchd.api.declareWebhook("dead", url: dead.url, events: ["job.*", "session.*"])
        _ = try await fetchd.api.declareWebhook("alive", url: alive.url, events: ["job.*", "session.*"])
        _ = try await finished(fetchd)
        _ = try await alive.waitFor("session.finished")
        #expect(try await fetchd.terminate() == .exited(0))
    }

    @Test func disablesWebhookWhoseEndpointAnswers410() async throws {
        let (fetchd, receiver) = (try await LocalService.start(Self.quick), try WebhookReceiver())
        receiver.answer(410, to: 1...1)
        _ = try await fetchd.api.declareWebhook(url: receiver.url)
        _ = try await finished(fetchd)
        let webhook = try await eventually("the webhook to be disabled") {
            let webhook = try await fetchd.api.get("/v1/sessions/default/webhooks/receiver").json
            return webhook["state"] == "disabled" ? webhook : JSON?.none
        }
        #expect(webhook["disabled_reason"].string?.contains("410") == true)
        #expect(try await deliveries(fetchd).first?["state"] == "cancelled")
    }
}
