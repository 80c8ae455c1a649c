import Foundation
import TestKit
import Testing

/// The commands of docs/backup.md work as printed, in their order.
@Suite(.onSQLite) struct BackupPageTests {
    /// Commands that need a stopped service.
    private static let offline = ["fetchd restore backup", "fetchd compact"]

    @Test func runsTheCommandsOfThePage() async throws {
        let page = try String(contentsOf: Project.root.appending(path: "docs/backup.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```sh example\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(blocks.count == 7)
        let fetchd = try await FetchdProcess.start()
        let id = try await fetchd.api.submit(["url": "https://host.invalid/file"])
        _ = try await fetchd.api.post("/v1/jobs/\(id)/pause")
        try FileManager.default.createDirectory(
            atPath: fetchd.folder.path("backup"), withIntermediateDirectories: true)
        for block in blocks {
            let isOffline = Self.offline.contains { block.hasPrefix($0) }
            if isOffline, fetchd.isRunning { try await fetchd.stop() }
            if !isOffline, !fetchd.isRunning { try await fetchd.restart() }
            let outcome = try await ChildProcess.run(
                "/bin/bash", ["-euo", "pipefail", "-c", "fetchd() { \(FetchdProcess.program) \"$@\"; }\n" + block],
                workingFolder: fetchd.folder.path)
            #expect(outcome.succeeded, "\(block): \(outcome)")
        }
        if !fetchd.isRunning { try await fetchd.restart() }
        #expect(try await fetchd.api.get("/v1/jobs/\(id)").status == 200)
        #expect(fetchd.folder.files.contains { $0.contains(".replaced-") })
        // Another service imports the queue twice, and has it once.
        let other = try await FetchdProcess.start()
        for _ in 0..<2 {
            let outcome = try await FetchdProcess.run(
                ["import", fetchd.folder.path("queue.jsonl")], environment: ["FETCHD_URL": other.baseURL])
            #expect(outcome.succeeded, "\(outcome)")
        }
        let jobs = try await other.api.get("/v1/jobs").json["jobs"].arrayValue ?? []
        #expect(jobs.map { $0["metadata"]["imported_from"].string } == [id])
    }
}
