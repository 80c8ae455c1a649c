import Foundation
import TestKit
import Testing

/// The service on a Unix domain socket, and the command line as its client.
@Suite struct UnixSocketTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("fetchd.sock")
    }

    private func command(_ arguments: String..., socket: String? = nil) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            FetchdProcess.program, arguments,
            environment: ["FETCHD_URL": "unix:\(socket ?? path)", "HOME": folder.path, "XDG_CONFIG_HOME": folder.path],
            workingFolder: folder.path)
    }

    /// A service without a port.
    private func start(_ arguments: String...) async throws -> ChildProcess {
        let child = try await ChildProcess(
            FetchdProcess.program,
            [
                "serve", "--listen", "none", "--unix-socket", path, "--data-dir", folder.path("data"),
                "--downloads-dir", folder.path("downloads"), "--allow-network", "127.0.0.0/8",
            ] + arguments)
        _ = try await eventually("fetchd to be ready") { [path] in
            if let ending = child.endingSoFar { throw Overdue("fetchd ended (\(ending)): \(child.errors)") }
            return child.errors.contains(" is ready at unix:\(path)\n") ? true : nil
        }
        return child
    }

    @Test func downloadsThroughTheSocketAlone() async throws {
        let (child, origin) = (try await start(), try Origin())
        let bytes = Content.random(seed: 41, count: 300_000)
        origin.serve("/a.bin", .file(bytes))
        let got = try await command("add", "--save", ".", origin.url("/a.bin"))
        #expect(got.succeeded, "\(got.errors)")
        let isSame = folder.bytes(of: "a.bin") == bytes
        #expect(isSame)
        #expect(try await command("list").output.contains("a.bin"))
        child.signal(SIGTERM)
        #expect(try await child.waitForEnd() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: path))
        let late = try await command("list")
        #expect(late.ending == .exited(69), "\(late.errors)")
    }

    /// A service that was killed leaves its file. The next one replaces it.
    @Test func replacesTheSocketOfAKilledService() async throws {
        let first = try await start()
        let second = try await ChildProcess.run(
            FetchdProcess.program,
            [
                "serve", "--listen", "none", "--unix-socket", path, "--data-dir", folder.path("other"),
                "--downloads-dir", folder.path("others"),
            ])
        #expect(second.ending == .exited(1))
        #expect(second.errors.contains("another process listens on \(path)"), "\(second.errors)")
        first.signal(SIGKILL)
        try await first.waitForEnd()
        let next = try await start("--unix-socket-mode", "0660")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o660)
        #expect(try await command("stats").succeeded)
        next.signal(SIGTERM)
        #expect(try await next.waitForEnd() == .exited(0))
    }

    @Test func servesBesideThePort() async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--unix-socket", path], token: "secret"))
        #expect(try await fetchd.api.get("/v1/jobs").status == 200)
        // The token is needed on the socket, too.
        #expect(try await command("list").ending == .exited(77))
        try await fetchd.stop()
    }

    @Test(arguments: [
        (["--listen", "none"], "--unix-socket"), (["--unix-socket", "/x", "--unix-socket-mode", "668"], "octal"),
        (["--unix-socket", "/x", "--unix-socket-mode", "01777"], "octal"),
        (["--max-connections", "3"], "max_connections"),
    ])
    func refusesSettingsThatCannotBeUsed(_ arguments: [String], _ message: String) async throws {
        let outcome = try await FetchdProcess.run(["serve"] + arguments, workingFolder: folder.path)
        #expect(outcome.ending == .exited(64))
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }
}
