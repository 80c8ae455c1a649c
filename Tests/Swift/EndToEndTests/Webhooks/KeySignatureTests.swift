import Formats
import Foundation
import TestKit
import Testing

/// Requests that are signed with the key of the service (`v1a`), and bodies in the form of CloudEvents.
@Suite(.enabled("needs packages of PyPI: run scripts/setup") { await Project.hasPythonPackage("cloudevents") })
struct KeySignatureTests {
    private func declare(_ scene: Scene, _ receiver: WebhookReceiver, _ members: JSON) async throws -> APIAnswer {
        var body = JSONObject()
        body["url"] = .string(receiver.url)
        for (name, value) in members.objectValue?.members ?? [] { body[name] = value }
        return try await scene.api.put("/v1/sessions/default/webhooks/receiver", .object(body))
    }

    private func keys(_ scene: Scene) async throws -> [JSON] {
        try await APIClient(baseURL: scene.fetchd.baseURL).get("/v1/webhook-keys").json["keys"].arrayValue ?? []
    }

    /// Posts a test event, and returns what the libraries of receivers say about the request.
    private func verified(_ scene: Scene, _ receiver: WebhookReceiver, secret: String) async throws -> JSON {
        let count = receiver.received.count
        #expect(try await scene.api.act("test").status == 200)
        let posted = try await receiver.waitFor(count: count + 1)[count]
        var headers = JSONObject()
        for (name, value) in posted.request.headers { headers[name] = .string(value) }
        let request: JSON = [
            "headers": .object(headers), "body": .string(Data(posted.bytes).base64EncodedString()),
            "secret": .string(secret), "keys": .array(try await keys(scene).map { $0["key"] }),
        ]
        let outcome = try await ChildProcess.run(
            Project.python, [Project.path("Tests/Webhooks/verify.py")], input: Array(request.written.utf8))
        #expect(outcome.succeeded, "\(outcome)")
        return try JSON(parsing: outcome.output)
    }

    @Test func signsWithTheSecretAndTheKeyInOneHeader() async throws {
        let (scene, receiver) = (try await Scene(.init(token: "first")), try WebhookReceiver())
        #expect(try await keys(scene).isEmpty)
        let declared = try await declare(scene, receiver, ["signature": ["v1", "v1a"]])
        #expect(declared.json["signature"] == ["v1", "v1a"] && declared.json["format"] == "standard", "\(declared)")
        let secret = try #require(declared.json["secret"].string)
        let first = try await keys(scene)
        #expect(first.count == 1 && first[0]["state"] == "active" && first[0]["expires_at"] == nil)
        let found = try await verified(scene, receiver, secret: secret)
        #expect(found["cryptography"] == [first[0]["key"]], "\(found)")
        #expect(found["standardwebhooks"] == true && found["svix"] == true)
        // Only an administrator replaces the key. Both sign for a day.
        #expect(try await scene.api.caller("sessions").post("/v1/webhook-keys/rotate").status == 403)
        #expect(try await scene.api.post("/v1/webhook-keys/rotate").status == 200)
        let second = try await keys(scene)
        #expect(second.map { $0["state"] } == ["active", "retiring"] && second[1]["key"] == first[0]["key"])
        let both = try await verified(scene, receiver, secret: secret)
        #expect(both["cryptography"] == .array(second.map { $0["key"] }) && both["svix"] == true, "\(both)")
    }

    @Test func postsCloudEvents() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        let declared = try await declare(scene, receiver, ["signature": ["v1a"], "format": "cloudevents"])
        let found = try await verified(scene, receiver, secret: try #require(declared.json["secret"].string))
        #expect(found["cryptography"].count == 1 && found["svix"] == false && found["standardwebhooks"] == false)
        let delivery = try await scene.api.get("/v1/sessions/default/webhooks/receiver/deliveries").json["deliveries"][
            0]
        #expect(
            found["cloudevents"] == [delivery["id"], "fetchd.webhook.test", "/v1/sessions/default", "default"],
            "\(found)")
        let whole = try await scene.api.get("/v1/deliveries/\(delivery["id"].string ?? "")").json
        #expect(whole["body"]["specversion"] == "1.0" && whole["body"]["type"] == "fetchd.webhook.test")
    }

    @Test(
        arguments: [["signature": []], ["signature": ["v2"]], ["signature": ["v1", "v1"]], ["format": "xml"]] as [JSON])
    func refusesWrongMembers(_ members: JSON) async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        #expect(try await declare(scene, receiver, members).status == 422)
    }
}
