import Foundation
import TestKit
import Testing

/// A start on a data disk that is full: the service waits for space.
@Suite(.enabled(if: MountNamespace.isPossible, "This machine gives ordinary users no file system of their own."))
struct FullDataDiskTests {
    private func launch(_ folder: TemporaryFolder) async throws -> (child: ChildProcess, api: APIClient) {
        let command =
            SmallDataDisk.launcher + [
                folder.path, FetchdProcess.program, "serve", "--listen", "127.0.0.1:0", "--data-dir",
                folder.path("data"),
                "--downloads-dir", folder.path("downloads"),
            ]
        let child = try await ChildProcess(command[0], Array(command.dropFirst()))
        let port = try await eventually("fetchd to say that it waits") {
            child.errors.firstMatch(of: /fetchd waits at port (\d+)/).map { String($0.1) }
        }
        return (child, APIClient(baseURL: "http://127.0.0.1:\(port)"))
    }

    @Test func waitsForSpaceAndSaysWhy() async throws {
        let folder = try TemporaryFolder()
        let (child, api) = try await launch(folder)
        let answer = try await api.get("/readyz")
        #expect(answer.status == 503)
        #expect(answer.header("retry-after") == "1")
        #expect(answer.json["detail"].string?.contains("disk of the data folder is full") ?? false)
        #expect(try await api.get("/v1/jobs").status == 503)
        #expect(try await api.get("/livez").status == 200)
        #expect(child.endingSoFar == nil)
        try SmallDataDisk.empty(folder.path, of: child.pid)
        _ = try await eventually("fetchd to be ready") { child.errors.contains(" is ready at http://") ? true : nil }
        child.signal(SIGTERM)
        #expect(try await child.waitForEnd() == .exited(0))
    }

    @Test func exitsAtSIGTERMWhileWaitingForSpace() async throws {
        let folder = try TemporaryFolder()
        let (child, _) = try await launch(folder)
        child.signal(SIGTERM)
        #expect(try await child.waitForEnd() == .exited(0))
        #expect(child.errors.contains("Stopped before the database could be opened."))
    }
}
