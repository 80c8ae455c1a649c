import Formats
import Foundation
import TestKit
import Testing

/// Endpoints that are busy, redirect, answer endlessly or do not answer.
@Suite struct EndpointResponseTests {
    /// The seconds between the only attempt and the next one, and the latency of the first.
    private func pause(afterAnswer retryAfter: String, delays: [Double], status: Int = 503) async throws -> (
        pause: Double, latency: Double
    ) {
        let (scene, receiver) = (try await Scene.delivering(after: delays), try WebhookReceiver())
        receiver.answer(status, headers: [("Retry-After", retryAfter)])
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        let delivery = try await scene.api.waitForDelivery(of: "webhook.test", toBe: "tried") {
            $0["attempts"].count == 1
        }
        #expect(delivery["state"] == "pending")
        let attempt = delivery["attempts"][0]
        let at = try #require(attempt["at"].string.flatMap(Date.init(rfc3339:)))
        let next = try #require(delivery["next_attempt_at"].string.flatMap(Date.init(rfc3339:)))
        return (next.timeIntervalSince(at), try #require(attempt["latency_seconds"].numberValue))
    }

    /// Times have a precision of one millisecond.
    private static let rounding = 0.002
    /// Seconds that fetchd may need between the end of an attempt and the choice of the next one's time.
    private static let slack = 5.0

    @Test(arguments: [503, 429, 404]) func lengthensDelayByRetryAfter(_ status: Int) async throws {
        let (pause, latency) = try await pause(afterAnswer: "7200", delays: [0, 60, 60], status: status)
        #expect(pause >= 7200 - Self.rounding)
        #expect(pause <= 7200 + latency + Self.slack)
    }

    @Test func acceptsRetryAfterAsHTTPDate() async throws {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let moment = Date(timeIntervalSinceNow: 7200)
        let (pause, latency) = try await pause(afterAnswer: format.string(from: moment), delays: [0, 60, 60])
        #expect(pause > 60 * 1.1 + latency)
        // The date was computed before the attempt, and has whole seconds.
        #expect(pause <= 7200 + Self.slack)
    }

    @Test(arguments: ["1", "0", "-5", "soon", ""]) func neverShortensDelayByRetryAfter(_ value: String) async throws {
        let (pause, latency) = try await pause(afterAnswer: value, delays: [0, 3600])
        #expect(pause >= 3600 - Self.rounding)
        #expect(pause <= 3600 * 1.1 + latency + Self.slack)
    }

    @Test func limitsRetryAfterToOneDay() async throws {
        let (pause, latency) = try await pause(afterAnswer: "100000000", delays: [0, 60])
        #expect(pause <= 86_400 + latency + Self.slack)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func failsOnRedirectWithoutFollowingIt(_ status: Int) async throws {
        let (scene, target) = (try await Scene.delivering(after: [0, 0.01]), try WebhookReceiver())
        let receiver = try WebhookReceiver()
        receiver.answer(status, headers: [("Location", target.url)])
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        let delivery = try await scene.api.waitForDelivery(of: "webhook.test", toBe: .exhausted)
        #expect(delivery["attempts"].arrayValue?.map { $0["status"] } == [.count(status), .count(status)])
        #expect(delivery["attempts"][0]["error"].string?.contains("redirect") == true)
        #expect(receiver.received.count == 2)
        #expect(target.received.isEmpty)
    }

    /// The status decides the outcome; the response is read up to a limit.
    @Test(arguments: [(200, "acknowledged"), (500, "exhausted")])
    func truncatesEndlessResponseAndUsesItsStatus(_ status: Int, _ state: String) async throws {
        let (scene, receiver) = (try await Scene.delivering(after: [0]), try WebhookReceiver())
        receiver.answer(to: 1...1) { _ in
            var answer = OriginAnswer(status: status, body: Array(repeating: 0x61, count: 8 << 20))
            answer.framing = .chunked()
            // The response never ends.
            answer.incidents.append((8 << 20, .stall))
            return answer
        }
        try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await scene.api.act("test").status == 200)
        let delivery = try await scene.api.waitForDelivery(of: "webhook.test", toBe: "settled") {
            $0["state"] != "pending"
        }
        #expect(delivery["state"] == .string(state))
        #expect(delivery["attempts"].count == 1)
        #expect(delivery["attempts"][0]["status"] == .count(status))
    }

    /// One dead endpoint accepts no connection, the other accepts it and never answers.
    @Test(.realProcess) func deliversToFiftyEndpointsDespiteTwoDeadOnes() async throws {
        let scene = try await Scene.delivering()
        let (unresponsive, silent) = (try UnresponsivePort(), try WebhookReceiver())
        silent.fallSilent()
        try await scene.api.declareWebhook("dead-1", url: "http://127.0.0.1:\(unresponsive.number)/hook")
        try await scene.api.declareWebhook("dead-2", url: silent.url)
        let live = try (1...50).map { (name: "live-\($0)", receiver: try WebhookReceiver()) }
        for (name, receiver) in live { try await scene.api.declareWebhook(name, url: receiver.url) }
        try await scene.api.submit(scene.order())
        for (name, receiver) in live {
            _ = try await receiver.waitFor("session.finished")
            try await scene.api.waitForDelivery(of: "session.finished", to: name, toBe: .acknowledged)
        }
        for dead in ["dead-1", "dead-2"] {
            let finish = try await scene.api.deliveries(to: dead)
            #expect(finish.map { $0["state"] } == ["pending"])
            // After a while, attempts end without an answer.
            #expect(finish.allSatisfy { $0["attempts"].arrayValue?.allSatisfy { $0["status"] == .null } == true })
        }
        // They do not delay the stop of the service either.
        #expect(try await scene.process.terminate() == .exited(0))
    }
}
