import Formats
import TestKit
import Testing

/// Secrets are rotated without a gap: during the overlap, consumers with the old or the new secret can verify.
@Suite struct SecretRotationTests {
    private static let given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
    private static let stranger = "whsec_c3RyYW5nZXIgc3RyYW5nZXIgc3RyYW5nZXIgMTI="

    private func rotate(_ scene: Scene, to secret: String? = nil) async throws -> String {
        let answer = try await scene.api.act("rotate-secret", secret.map { ["secret": .string($0)] })
        #expect(answer.status == 200)
        #expect(answer.json["name"] == "receiver")
        return try #require(answer.json["secret"].string)
    }

    /// Posts a test event and returns the request.
    private func posted(_ scene: Scene, _ receiver: WebhookReceiver) async throws
        -> ReceivedWebhook
    {
        let count = receiver.received.count
        #expect(try await scene.api.act("test").status == 200)
        return try await receiver.waitFor(count: count + 1)[count]
    }

    @Test func signsWithOldAndNewSecretAfterRotation() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let old = try await scene.api.declareWebhook(url: receiver.url)
        let new = try await rotate(scene)
        #expect(new.hasPrefix("whsec_") && new != old)
        let posted = try await posted(scene, receiver)
        #expect(posted.signatureCount == 2)
        #expect(posted.isSigned(with: old))
        #expect(posted.isSigned(with: new))
        #expect(!posted.isSigned(with: Self.stranger))
        // Only the response to the rotation shows the secret.
        let shown = try await scene.api.get("/v1/sessions/default/webhooks/receiver").json
        #expect(!shown.names.contains("secret"))
    }

    @Test func acceptsGivenSecretForRotation() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let old = try await scene.api.declareWebhook(url: receiver.url)
        #expect(try await rotate(scene, to: Self.given) == Self.given)
        let posted = try await posted(scene, receiver)
        #expect(posted.signatureCount == 2)
        #expect(posted.isSigned(with: old) && posted.isSigned(with: Self.given))
    }

    @Test func signsWithThreeSecretsAfterTwoRotations() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let first = try await scene.api.declareWebhook(url: receiver.url)
        let second = try await rotate(scene)
        let third = try await rotate(scene)
        let posted = try await posted(scene, receiver)
        #expect(posted.signatureCount == 3)
        for secret in [first, second, third] { #expect(posted.isSigned(with: secret)) }
    }

    @Test(.realProcess) func keepsOldSecretAfterKill() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let old = try await scene.api.declareWebhook(url: receiver.url)
        let new = try await rotate(scene)
        try await scene.process.kill()
        try await scene.process.restart()
        let posted = try await posted(scene, receiver)
        #expect(posted.signatureCount == 2)
        #expect(posted.isSigned(with: old) && posted.isSigned(with: new))
    }

    /// A retry is signed with the secrets valid at that time, not with those of the first attempt.
    @Test func signsRetryWithCurrentSecrets() async throws {
        let (scene, receiver) = (try await Scene.delivering(after: Scene.parking), try WebhookReceiver())
        receiver.refuse("webhook.test", times: 1)
        let old = try await scene.api.declareWebhook(url: receiver.url)
        let first = try await posted(scene, receiver)
        #expect(first.signatureCount == 1)
        let parked = try await scene.api.waitForDelivery(of: "webhook.test", toBe: "parked") {
            $0["attempts"].count == 1
        }
        let new = try await rotate(scene)
        #expect(try await scene.api.redeliver(parked).status == 200)
        let again = try await receiver.waitFor("webhook.test", count: 2)[1]
        #expect(again.id == first.id)
        #expect(again.signatureCount == 2)
        #expect(again.isSigned(with: old) && again.isSigned(with: new))
    }

    @Test(
        arguments: [
            (["secret": "hunter2"], "invalid-value", "/secret"), (["secret": 5], "invalid-value", "/secret"),
            (["key": "whsec_"], "unknown-field", "/key"),
        ] as [(JSON, String, String)])
    func keepsSecretWhenRotationIsInvalid(_ body: JSON, _ kind: String, _ pointer: String) async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let secret = try await scene.api.declareWebhook(url: receiver.url)
        let refused = try await scene.api.act("rotate-secret", body)
        #expect(refused.status == 422)
        #expect(refused.problem == .init(kind: kind, pointer: pointer))
        let posted = try await posted(scene, receiver)
        #expect(posted.signatureCount == 1)
        #expect(posted.isSigned(with: secret))
    }

    /// The reference implementation of Standard Webhooks verifies with one of the two secrets.
    @Test(.enabled("needs PyPI's standardwebhooks: run scripts/setup") { await Consumer.isPossible })
    func verifiesWithEitherSecretInReferenceImplementation() async throws {
        let (scene, receiver, consumer) = (try await Scene(), try WebhookReceiver(), try await Consumer())
        let old = try await scene.api.declareWebhook(url: receiver.url)
        let new = try await rotate(scene)
        let posted = try await posted(scene, receiver)
        for (secret, verdict) in [(old, 204), (new, 204), (Self.stranger, 401)] {
            try consumer.keep(secret)
            #expect(try await consumer.verdict(on: posted) == verdict)
        }
    }
}
