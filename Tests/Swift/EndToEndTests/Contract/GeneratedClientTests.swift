import TestKit
import Testing

/// A client that openapi-python-client generates from openapi.yaml, used by Tests/GeneratedClients/story.py.
@Suite(.enabled(GeneratedClient.reason) { await GeneratedClient.isPossible })
struct GeneratedClientTests {
    @Test func generatedClientRunsWholeSession() async throws {
        let (folder, origin, receiver) = (try TemporaryFolder(), try Origin(), try WebhookReceiver())
        let fetchd = try await FetchdProcess.start(.init(token: "correct-horse"))
        let bytes = Content.random(seed: 17, count: 300_000)
        origin.serve("/holiday.jpg", .file(bytes, etag: "\"v1\""))
        // The generator prints no warning: each would be an operation or response that clients lack.
        let made = try await GeneratedClient.make(in: folder)
        try #require(made.succeeded, "\(made.output)\(made.errors)")

        let story = try await ChildProcess.run(
            Project.python,
            [
                Project.path("Tests/GeneratedClients/story.py"), fetchd.baseURL, "correct-horse", origin.url(""),
                receiver.url,
                SHA.hexadecimal(of: bytes),
            ], environment: ["PYTHONPATH": folder.path, "PYTHONDONTWRITEBYTECODE": "1"])
        #expect(story.succeeded, "\(story.errors)")
        #expect(story.output.hasSuffix("a whole session\n"))
        #expect(receiver.received.contains { $0.type == "session.finished" })
    }
}

/// The generator of the client.
private enum GeneratedClient {
    static let reason: Comment = "needs PyPI's openapi-python-client: run scripts/setup"

    static var isPossible: Bool {
        get async {
            let outcome = try? await ChildProcess.run(Project.python, ["-c", "import openapi_python_client, ruff"])
            return outcome?.succeeded == true
        }
    }

    static func make(in folder: TemporaryFolder) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            Project.python,
            [
                Project.path("Tests/GeneratedClients/generate.py"), Project.path("openapi.yaml"),
                folder.path("fetchd_client"),
            ],
            environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    }
}
