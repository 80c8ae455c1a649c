import Downloads
import TestKit
import Testing

@Suite struct WebhookConsumerTests {
    @Test func smoke() async throws {
        let origin = try Origin()
        origin.serve("/f", .file(Content.random(seed: 1, count: 100_000)))
        let receiver = try WebhookReceiver()
        let fetchd = try await FetchdProcess.start()
        let secret = try await fetchd.api.declareWebhook(url: receiver.url, events: ["session.finished", "job.*"])
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f"))])
        try await fetchd.api.waitForJob(id, .succeeded)
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.isSigned(with: secret))
        #expect(fetchd.downloaded("f") == Content.random(seed: 1, count: 100_000))
        try await fetchd.kill()
        try await fetchd.restart()
        #expect(try await fetchd.terminate() == .exited(0))
    }
}
