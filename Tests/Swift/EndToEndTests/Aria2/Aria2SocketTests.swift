import Foundation
import TestKit
import Testing

/// WebSockets at `/jsonrpc`, by the independent client of Python's websocket-client.
@Suite(.enabled("scripts/setup has set up .venv") { await Aria2Clients.areInstalled() }) struct Aria2SocketTests {
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

/// Programs that others wrote for aria2, each through its own interface.
@Suite(.enabled("scripts/setup has set up .venv") { await Aria2Clients.areInstalled() }) struct Aria2ClientTests {
    @Test(arguments: ["library_aria2p.py", "library_aioaria2.py", "command_a2rpc.py", "terminal_aria2tui.py"])
    func aProgramForAria2WorksUnchanged(_ script: String) async throws {
        let scene = try await Aria2Scene(token: "first")
        try await Aria2Clients.run(script, [scene.service.baseURL, scene.origin.url("/file.bin"), "first"])
        try await scene.service.stop()
    }
}
