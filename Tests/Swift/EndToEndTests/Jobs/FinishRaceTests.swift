import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// Jobs that are cancelled or paused at the moment they finish: state, events, file and part agree, whichever happens
/// first.
@Suite struct FinishRaceTests {
    private static let ends = ["job.succeeded", "job.failed", "job.cancelled"]

    /// Starts fifty jobs, then sends the last byte of each and the action at the same time.
    private func race(_ action: JobSignal.Action, _ options: JSON? = nil) async throws -> (
        scene: Scene, ids: [String]
    ) {
        let scene = try await Scene(
            .init {
                $0.start.values.maxConcurrentJobs = 50
                $0.start.values.maxConnectionsPerHost = 50
            })
        for index in 0..<50 {
            let bytes = Content.random(seed: UInt64(index), count: 20_000)
            scene.origin.serve("/\(index)", .file(bytes), .waiting(at: 19_999, for: scene.gate).once)
        }
        let ids = try await scene.api.submit(all: (0..<50).map { scene.order("/\($0)") })
        await scene.gate.reached(by: 50)
        let api = scene.api
        // A job that is cancelled before its first bytes has no resume data.
        for id in ids { try await api.waitForBytesOfFirstAttempt(id, atLeast: 1) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, id) in ids.enumerated() {
                if index == 10 { scene.gate.open() }
                group.addTask { try await api.post("/v1/jobs/\(id)/\(action.rawValue)", options).status }
            }
            for try await status in group { #expect([200, 409].contains(status)) }
        }
        return (scene, ids)
    }

    /// Checks that state, events, file and part agree.
    private func expectOneStory(of id: String, _ index: Int, in scene: Scene) async throws {
        let job = try await scene.api.waitForJob(id, toBe: "at rest") { job in
            job["state"].string.map { ["succeeded", "cancelled", "paused"].contains($0) } ?? false
        }
        let types = try await scene.api.types(of: id)
        let endings = types.filter(Self.ends.contains)
        let state = job["state"].string ?? ""
        #expect(endings == (state == "paused" ? [] : ["job.\(state)"]), "\(types)")
        #expect(types.last == "job.\(state)")
        let bytes = scene.fetchd.downloaded("\(index)")
        #expect(bytes == (state == "succeeded" ? Content.random(seed: UInt64(index), count: 20_000) : nil))
        #expect((job["file"] != .null) == (state == "succeeded"))
        if state == "succeeded" { #expect(try await scene.api.resumeData(of: id) == nil) }
    }

    @Test func agreesOnOneOutcomeWhenFiftyJobsAreCancelledWhileFinishing() async throws {
        let (scene, ids) = try await race(.cancel)
        for (index, id) in ids.enumerated() { try await expectOneStory(of: id, index, in: scene) }
        try await scene.expectStoredParts([])
        let finish = try await scene.api.waitForFinish(of: "default")
        let counts = try await scene.api.counts(of: "default")
        #expect(finish["data"]["counts"]["succeeded"].integer == counts["succeeded"] ?? 0)
        #expect(finish["data"]["counts"]["cancelled"].integer == counts["cancelled"] ?? 0)
        #expect((counts["succeeded"] ?? 0) + (counts["cancelled"] ?? 0) == 50)
    }

    @Test func keepsPartsOfCancelledJobsWithProduceResumeDataWhileFinishing() async throws {
        let (scene, ids) = try await race(.cancel, ["produce_resume_data": true])
        for (index, id) in ids.enumerated() { try await expectOneStory(of: id, index, in: scene) }
        var sizes: [Int64] = []
        for id in ids {
            if let part = try await scene.api.resumeData(of: id) { sizes.append(part["bytes_durable"].integer ?? 0) }
        }
        try await scene.expectStoredParts(sizes)
        #expect(sizes.count == Int(try await scene.api.counts(of: "default")["cancelled"] ?? 0))
    }

    @Test func resumesFiftyJobsPausedWhileFinishing() async throws {
        let (scene, ids) = try await race(.pause)
        for (index, id) in ids.enumerated() { try await expectOneStory(of: id, index, in: scene) }
        try await scene.api.perform("resume", onAllOf: "default")
        for (index, id) in ids.enumerated() {
            try await scene.api.waitForJob(id, .succeeded)
            #expect(scene.fetchd.downloaded("\(index)") == Content.random(seed: UInt64(index), count: 20_000))
            #expect(try await scene.api.types(of: id).filter(Self.ends.contains) == ["job.succeeded"])
        }
        try await scene.expectStoredParts([])
    }
}
