import Foundation
import TestKit
import Testing

/// WebSockets at `/jsonrpc`, by the independent client of Python's websocket-client.
@Suite(.enabled("scripts/install has set up .venv") { await Aria2Clients.areInstalled() }) struct Aria2SocketTests {
    @Test func callsAndNotificationsShareASocket() async throws {
        let scene = try await Aria2Scene()
        try await runScript("sockets.py", [scene.service.baseURL, scene.origin.url("/file.bin")])
        try await scene.service.stop()
    }

    @Test func aHandshakeIsJudgedLikeAnyRequest() async throws {
        let scene = try await Aria2Scene(token: "first")
        try await runScript("handshakes.py", [scene.service.baseURL, "first"])
        try await scene.service.stop()
    }

    private func runScript(_ name: String, _ arguments: [String]) async throws {
        try await Aria2Clients.run(name, arguments)
    }
}
