import Downloads
import Foundation
import TestKit
import Testing

/// What the README tells newcomers to type works as it stands there.
@Suite struct ReadmeTests {
    @Test func theTenLinesOfCurl() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(readme.components(separatedBy: "```sh\n").dropFirst().first)
        let script = try #require(block.components(separatedBy: "```").first)
        #expect(script.split(separator: "\n").count == 11)

        let (fetchd, origin, receiver) = (try await FetchdProcess.start(), try Origin(), try WebhookReceiver())
        let bytes = Content.random(seed: 13, count: 400_000)
        origin.serve("/film.bin", .file(bytes), .limited(bytesPerSecond: 400_000))
        let folder = try TemporaryFolder()
        let result = try await ChildProcess.run(
            "/bin/bash", ["-euo", "pipefail", "-c", script],
            environment: ["FETCHD_URL": fetchd.baseURL, "FILE": origin.url("/film.bin"), "HOOK": receiver.url],
            workingFolder: folder.path)
        #expect(result.succeeded, "\(result)")
        #expect(folder.bytes(of: "film.bin") == bytes)
        for expected in [#""id":"films""#, "whsec_", "\"paused\"", "job.succeeded"] {
            #expect(result.output.contains(expected), "\(result.output)")
        }
        _ = try await receiver.waitFor("session.finished")
    }
}
