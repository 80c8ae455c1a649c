import Formats
import TestKit
import Testing

/// Callers without administrator rights cannot make fetchd post to internal addresses.
@Suite struct WebhookReachTests {
    private let scene: Scene
    private let receiver: WebhookReceiver
    private let path = "/v1/sessions/default/webhooks/hook"

    init() async throws {
        (scene, receiver) = (try await Scene(.init(token: "administrator")), try WebhookReceiver())
    }

    private func scoped() async throws -> APIClient {
        let made = try await scene.api.post("/v1/tokens", ["scope": "sessions"])
        let token = try #require(made.json["token"].string)
        return APIClient(baseURL: scene.fetchd.baseURL, token: token)
    }

    private func declare(_ api: APIClient) async throws -> JSON {
        let answer = try await api.put(path, ["url": .string(receiver.url), "events": ["job.created"]])
        #expect([200, 201].contains(answer.status), "\(answer.json.written)")
        return answer.json
    }

    private func attempt(of job: String) async throws -> JSON {
        try await eventually("an attempt of the newest delivery") {
            let deliveries = try await scene.api.get("\(path)/deliveries").json["deliveries"].arrayValue
            return deliveries?.first?["attempts"].arrayValue?.first
        }
    }

    @Test func webhookOfScopedCallerReachesNoInternalAddress() async throws {
        #expect(try await declare(scoped())["reach"] == "public")
        let attempt = try await attempt(of: scene.api.submit(scene.order()))
        #expect(attempt["status"] == .null)
        #expect(attempt["response"] == .null)
        #expect(
            attempt["error"]
                == "The endpoint did not take it: connections to its address 127.0.0.1 are not allowed.")
        #expect(receiver.connectionCount == 0)
    }

    /// The caller that has declared it last decides.
    @Test func scopedCallerLimitsTheWebhookOfAnAdministrator() async throws {
        #expect(try await declare(scene.api)["reach"] == "any")
        let api = try await scoped()
        #expect(try await declare(api)["reach"] == "public")
        // Another change of it does not extend its reach.
        #expect(try await api.post("\(path)/rotate-secret").json["reach"] == "public")
        #expect(try await scene.api.post("\(path)/enable").json["reach"] == "public")
        #expect(try await declare(scene.api)["reach"] == "any")
        _ = try await scene.api.submit(scene.order())
        _ = try await receiver.waitFor("job.created")
    }
}
