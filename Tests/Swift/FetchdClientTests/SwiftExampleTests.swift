import Foundation
import TestKit
import Testing

/// The programs of examples/swift, each with a service that is killed in the middle of a download.
@Suite struct SwiftExampleTests {
    private let bytes = Content.random(seed: 31, count: 200_000)
    private let folder: TemporaryFolder
    private let gate = Gate()

    init() throws { folder = try TemporaryFolder() }

    private func begin() async throws -> (FetchdProcess, Origin) {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(keepsPort: true)), try Origin())
        origin.serve("/a.bin", .file(bytes), .waiting(at: 100_000, for: gate).once)
        origin.serve("/b.bin", .file(bytes))
        return (fetchd, origin)
    }

    private func example(_ name: String, _ fetchd: FetchdProcess, _ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess(
            FetchdProcess.companion(name), arguments, environment: ["FETCHD_URL": fetchd.baseURL])
    }

    /// Kills the service while a download runs and all others are submitted.
    private func strike(_ fetchd: FetchdProcess, jobs count: Int = 1) async throws {
        try await waitForJobs(count, fetchd)
        try await fetchd.kill()
        gate.open()
        try await fetchd.restart()
    }

    private func waitForJobs(_ count: Int, _ fetchd: FetchdProcess) async throws {
        #expect(await gate.reached())
        _ = try await eventually("\(count) jobs") {
            try await fetchd.api.get("/v1/jobs").json["jobs"].count == count ? true : nil
        }
    }

    private func lines(_ child: ChildProcess) async throws -> [String] {
        #expect(try await child.waitForEnd() == .exited(0), "\(child.errors)")
        return child.output.split(separator: "\n").map(String.init)
    }

    @Test func managerGetsItsTasksBack() async throws {
        let (fetchd, origin) = try await begin()
        let arguments = [folder.path("state"), folder.path("films")]
        let first = try await example(
            "background-manager", fetchd, arguments + [origin.url("/a.bin"), origin.url("/b.bin")])
        try await waitForJobs(2, fetchd)
        first.signal(SIGKILL)
        try await first.waitForEnd()
        try await strike(fetchd, jobs: 2)
        let said = try await lines(try await example("background-manager", fetchd, arguments))
        #expect(said.suffix(2) == ["batch 1: succeeded", "all done"])
        #expect(said.contains("film a.bin: succeeded"))
        for name in ["a.bin", "b.bin"] {
            let isSame = folder.bytes(of: "films/\(name)") == bytes
            #expect(isSame)
        }
    }

    @Test func showsProgressAndSavesFile() async throws {
        let (fetchd, origin) = try await begin()
        let child = try await example("progress", fetchd, [folder.path, origin.url("/a.bin")])
        try await strike(fetchd)
        let said = try await lines(child)
        #expect(said.contains("100 %, 200000 bytes"))
        #expect(said.last?.hasPrefix("saved a.bin, 200000 bytes, sha-256 ") ?? false)
        let isSame = folder.bytes(of: "a.bin") == bytes
        #expect(isSame)
    }

    @Test func resumesAfterRelaunch() async throws {
        let (fetchd, origin) = try await begin()
        let arguments = [folder.path("state"), folder.path("resume"), origin.url("/a.bin")]
        let first = try await example("resume-after-relaunch", fetchd, arguments)
        #expect(try await lines(first) == ["stopped"])
        try await strike(fetchd)
        let second = try await lines(try await example("resume-after-relaunch", fetchd, arguments))
        #expect(second.first?.hasPrefix("resumed at ") ?? false)
        #expect(second.last == "finished: 200000 bytes")
        #expect(!FileManager.default.fileExists(atPath: folder.path("resume")))
    }

    @Test func reportsOneFinishForSeveralDownloads() async throws {
        let (fetchd, origin) = try await begin()
        let child = try await example(
            "all-done", fetchd, [origin.url("/a.bin"), origin.url("/b.bin"), origin.url("/missing")])
        try await strike(fetchd, jobs: 3)
        #expect(try await lines(child) == ["all done: partlyFailed, 2 succeeded, 1 failed"])
        #expect(try await fetchd.api.session("com.example.all-done")["unacknowledged_since"] == .null)
    }

    @Test func downloadsOneAtATime() async throws {
        let (fetchd, origin) = try await begin()
        let child = try await example(
            "one-at-a-time", fetchd, [folder.path("state"), origin.url("/a.bin"), origin.url("/b.bin")])
        try await strike(fetchd, jobs: 2)
        let said = try await lines(child).filter { $0.hasSuffix("succeeded") }
        #expect(said == ["a.bin: succeeded", "b.bin: succeeded"])
        #expect(origin.maxConcurrentRequests == 1)
    }

    @Test func postsParameters() async throws {
        let (fetchd, origin) = try await begin()
        let child = try await example(
            "post-parameters", fetchd, [folder.path, origin.url("/a.bin"), "year=2019", "kind=a & b"])
        try await strike(fetchd)
        #expect(try await lines(child) == ["saved 200000 bytes"])
        let request = try #require(origin.requests(to: "/a.bin").first)
        #expect(request.method == "POST")
        let body = Set(String(decoding: request.body, as: UTF8.self).split(separator: "&"))
        #expect(body == ["year=2019", "kind=a+%26+b"] || body == ["year=2019", "kind=a%20%26%20b"])
    }
}
