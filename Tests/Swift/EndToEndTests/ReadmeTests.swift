import Foundation
import TestKit
import Testing

/// The commands in the README and other pages work as printed.
@Suite struct ReadmeTests {
    @Test func runsCurlExampleOfReadme() async throws {
        let script = try #require(try Self.shellBlocks(in: "README.md").first)
        #expect(script.split(separator: "\n").count == 12)

        let (fetchd, origin, receiver) = (try await FetchdProcess.start(), try Origin(), try WebhookReceiver())
        let (bytes, gate) = (Content.random(seed: 13, count: 400_000), Gate())
        origin.serve("/film.bin", .file(bytes), .waiting(at: 200_000, for: gate))
        let folder = try TemporaryFolder()
        let environment = ["FETCHD_URL": fetchd.baseURL, "FILE": origin.url("/film.bin"), "HOOK": receiver.url]
        async let run = Self.run(script, environment, in: folder)
        // The gate keeps the download from ending before it is paused, however slow the commands are.
        _ = try await eventually("the pause") {
            try await fetchd.api.events().contains { $0["type"] == "job.paused" } ? true : nil
        }
        gate.open()
        let output = try await run
        #expect(folder.bytes(of: "film.bin") == bytes)
        for expected in [#""id":"films""#, "whsec_", "\"paused\"", "job.succeeded"] {
            #expect(output.contains(expected), "\(output)")
        }
        _ = try await receiver.waitFor("session.finished")
    }

    /// The loop ends for a job that is gone, also without `pipefail`, and no problem document is saved as the file.
    @Test func curlExampleOfReadmeEndsForAJobThatIsGone() async throws {
        let script = try #require(try Self.shellBlocks(in: "README.md").first)
        let lines = script.split(separator: "\n").filter { $0.hasPrefix("while ") || $0.hasSuffix("Range and ETag") }
        #expect(lines.count == 2)
        let (fetchd, folder) = (try await FetchdProcess.start(), try TemporaryFolder())
        let result = try await ChildProcess.run(
            "timeout", ["20", "/bin/bash", "-c", lines.joined(separator: "\n")],
            environment: ["api": "\(fetchd.baseURL)/v1", "job": "job_none"], workingFolder: folder.path)
        // 22: the service refused (curl --fail). 124: the loop did not end.
        #expect(result.ending == .exited(22) && folder.files.isEmpty, "\(result)")
    }

    @Test func runsCurlExampleOfSessionsPage() async throws {
        let blocks = try Self.shellBlocks(in: "docs/sessions.md")
        let script = try #require(blocks.first { $0.hasPrefix("api=") })
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"]))
        let output = try await Self.run(script, ["FETCHD_URL": fetchd.baseURL], in: TemporaryFolder())
        for expected in [
            #""unacknowledged_since":null"#, #""session.finished","partly_failed""#, #""job.resumed""#, "\n204\n",
        ] {
            #expect(output.contains(expected), "\(output)")
        }
        #expect(fetchd.folder.files.filter { $0.hasSuffix(".mkv") }.count == 2)
    }

    @Test func runsFirstExampleOfJobsPage() async throws {
        let script = try #require(try Self.shellBlocks(in: "docs/jobs.md").first)
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"]))
        let output = try await Self.run(script, ["FETCHD_URL": fetchd.baseURL], in: TemporaryFolder())
        let expected = [
            "\"videos/2019/rehearse-film.mkv\"", #"{"not_before":null,"priority":"high","metadata":{"shelf":7}}"#,
            #"[412,"/problems/precondition-failed"]"#, #"["paused",true]"#, "\n404\n", #"["cancelled",true]"#,
            #"["url",1000000]"#, #"["succeeded","resumed",1000000]"#,
            #"{"scheme":"basic","realm":"rehearsal"}"#, #"["succeeded","rehearse:one.mkv"]"#, "200 30000000\n",
            "206 10\n", "206 multipart/byteranges", #"["succeeded","big (1).mkv"]"#,
            #"["failed","checksum_mismatch",null]"#,
        ]
        for text in expected { #expect(output.contains(text), "\(text) in \(output)") }
    }

    @Test func runsFirstExampleOfWatchingPage() async throws {
        let script = try #require(try Self.shellBlocks(in: "docs/watching.md").first)
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"]))
        let output = try await Self.run(script, ["FETCHD_URL": fetchd.baseURL], in: TemporaryFolder())
        let expected = [
            "304\n304\npreference-applied: wait=1\n", "[\"cancelled\",2]\n", #"["succeeded","film.mkv"]"#,
            #"["job.created",true]"#, "event: job.created\nevent: job.started\nevent: job.succeeded\n",
            "[true,16]\n",
        ]
        for text in expected { #expect(output.lowercased().contains(text), "\(text) in \(output)") }
    }

    private static func shellBlocks(in page: String) throws -> [String] {
        let text = try String(contentsOf: Project.root.appending(path: page), encoding: .utf8)
        return text.components(separatedBy: "```sh\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private static func run(
        _ script: String, _ environment: [String: String], in folder: TemporaryFolder
    ) async throws -> String {
        let result = try await ChildProcess.run(
            "/bin/bash", ["-euo", "pipefail", "-c", script], environment: environment, workingFolder: folder.path,
            atMost: .seconds(300))
        #expect(result.succeeded, "\(result)")
        return result.output
    }
}
