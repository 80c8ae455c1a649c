import Formats
import TestKit
import Testing

/// `max_total_size` of a session. Every file has 200,000 bytes.
@Suite struct SessionSizeTests {
    private let scene: Scene

    init() async throws {
        scene = try await Scene()
        scene.origin.serve("/chunks", .file(scene.bytes), .chunked())
    }

    private func limit(to size: Int64?) async throws {
        try await scene.api.declareSession("small", ["max_total_size": size.map(JSON.integer) ?? .null])
    }

    private func submit(_ path: String = "/file") async throws -> String {
        try await scene.api.submit(scene.order(path, ("session", "small")))
    }

    private func succeed(_ path: String = "/file") async throws -> String {
        let id = try await submit(path)
        try await scene.api.waitForJob(id, .succeeded)
        return id
    }

    /// - Returns: the message of the failure.
    @discardableResult private func waitForTooLarge(_ id: String) async throws -> String? {
        let failure = try await scene.api.waitForJob(id, .failed)["failure"]
        #expect(failure["code"] == "too_large")
        return failure["message"].string
    }

    @Test(arguments: ["/file", "/chunks"]) func failsTheFileThatDoesNotFit(_ path: String) async throws {
        try await limit(to: 300_000)
        _ = try await succeed(path)
        #expect(
            try await waitForTooLarge(submit(path))
                == "The file is larger than the 100000 bytes that are left of the session's max_total_size of 300000 bytes."
        )
    }

    @Test func filesMayFillTheLimitExactly() async throws {
        try await limit(to: 400_000)
        _ = try await succeed()
        _ = try await succeed("/chunks")
        try await waitForTooLarge(submit())
    }

    @Test func otherSessionsAreNotLimited() async throws {
        try await limit(to: 0)
        try await waitForTooLarge(submit())
        try await scene.api.waitForJob(scene.api.submit(scene.order()), .succeeded)
    }

    /// Each job has room when it begins. The one that ends later has none.
    @Test func transfersThatRunTogetherDoNotExceedTheLimit() async throws {
        try await limit(to: 300_000)
        let gates = ["/a": Gate(), "/b": Gate()]
        var jobs: [String: String] = [:]
        for (path, gate) in gates {
            scene.origin.serve(path, .file(scene.bytes), .waitingBeforeHead(for: gate))
            jobs[path] = try await submit(path)
            await gate.reached()
        }
        gates["/a"]?.open()
        try await scene.api.waitForJob(try #require(jobs["/a"]), .succeeded)
        gates["/b"]?.open()
        let message = try await waitForTooLarge(try #require(jobs["/b"]))
        #expect(message?.contains("the 100000 bytes that are left") == true)
        #expect(scene.fetchd.downloaded("b") == nil)
    }

    @Test func deletedJobsAndHigherLimitsMakeRoom() async throws {
        try await limit(to: 200_000)
        let first = try await succeed()
        let second = try await submit("/chunks")
        try await waitForTooLarge(second)
        #expect(try await scene.api.delete("/v1/jobs/\(first)").status == 204)
        #expect(try await scene.api.post("/v1/jobs/\(second)/retry").status == 200)
        try await scene.api.waitForJob(second, .succeeded)
        let third = try await submit()
        try await waitForTooLarge(third)
        try await limit(to: nil)
        #expect(try await scene.api.post("/v1/jobs/\(third)/retry").status == 200)
        try await scene.api.waitForJob(third, .succeeded)
    }
}
