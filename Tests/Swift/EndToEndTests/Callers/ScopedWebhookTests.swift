import Formats
import TestKit
import Testing

/// Webhooks that a token which is not an administrator's has declared.
@Suite struct ScopedWebhookTests {
    @Test func itsWebhookReachesNoInternalAddress() async throws {
        let (scene, receiver) = (try await Scene(.init(token: "first")), try WebhookReceiver())
        let editor = try await scene.api.caller("sessions")
        try await editor.declareWebhook(url: receiver.url)
        let id = try #require(try await editor.post("/v1/sessions/default/webhooks/receiver/test").json["id"].string)
        let attempt = try await eventually("an attempt") {
            try await editor.get("/v1/deliveries/\(id)").json["attempts"].arrayValue?.first
        }
        #expect(attempt["error"].string?.hasSuffix("are not allowed.") == true, "\(attempt)")
        #expect(receiver.received.isEmpty)
        // An administrator's declaration of the same webhook reaches it.
        let answer = try await scene.api.put(
            "/v1/sessions/default/webhooks/receiver", ["url": .string(receiver.url)])
        #expect(answer.status == 200)
        _ = try await receiver.waitFor("webhook.test")
    }
}
