import Formats
import Foundation
import TestKit
import Testing

/// When a batch finishes: after its last job, not while a job is paused or waiting, exactly once, and across restarts.
@Suite struct FinishTests {
    private static let quick: JSON = ["finish_delay_seconds": 0.05]
    /// A delay longer than any test.
    private static let slow: JSON = ["finish_delay_seconds": 3600]

    @Test(.realProcess) func finishesEachBatchOnceWhenKilledAroundFinish() async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        try await scene.api.declareSession("films", Self.quick)
        try await scene.api.declareWebhook(of: "films", url: receiver.url)
        for batch in Int64(1)...6 {
            let id = try await scene.api.submit(scene.order("/file", ("session", "films")))
            try await scene.api.waitForJob(id, .succeeded)
            // The kill comes between the end of the job and the delivery of the finish.
            try await scene.process.kill()
            try await scene.process.restart()
            try await scene.api.waitForFinish(of: "films", batch: batch)
        }
        try await scene.api.waitForSession("films", toBe: "acknowledged") { $0["unacknowledged_since"] == .null }
        let finishes = try await scene.api.finishes(of: "films")
        #expect(finishes.map { $0["data"]["batch"].integer } == [1, 2, 3, 4, 5, 6])
        #expect(finishes.allSatisfy { $0["data"]["counts"] == ["succeeded": 1, "failed": 0, "cancelled": 0] })
        // A crash may repeat a delivery, but under the same identifier.
        let posted = receiver.received.reduce(into: [Int64: Set<String>]()) {
            $0[$1.data["event"].integer ?? 0, default: []].insert($1.id ?? "")
        }
        #expect(Set(posted.keys) == Set(finishes.compactMap { $0["id"].integer }))
        #expect(posted.values.allSatisfy { $0.count == 1 })
    }

    @Test(.realProcess) func keepsFinishDueTimeAfterKill() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", Self.slow)
        let id = try await scene.api.submit(scene.order("/file", ("session", "films")))
        try await scene.api.waitForJob(id, .succeeded)
        let due = try await scene.api.session("films")["finish_due_at"]
        #expect(due != .null)
        for _ in 0..<2 {
            try await scene.process.kill()
            try await scene.process.restart()
            #expect(try await scene.api.session("films")["finish_due_at"] == due)
        }
        #expect(try await scene.api.finishes(of: "films") == [])
        // A new job joins the same batch, which is not due while the job runs.
        let next = try await scene.api.submit(scene.order("/held", ("session", "films")))
        #expect(try await scene.api.job(next)["batch"] == 1)
        #expect(try await scene.api.session("films")["finish_due_at"] == .null)
    }

    @Test(.realProcess) func finishesOverdueBatchAtStart() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 10])
        let id = try await scene.api.submit(scene.order("/file", ("session", "films")))
        try await scene.api.waitForJob(id, .succeeded)
        let due = try #require(try await scene.api.session("films")["finish_due_at"].string)
        try await scene.process.kill()
        let date = try #require(Date(rfc3339: due))
        let restart = try await eventually("the finish to be overdue") { Date() > date ? Date() : nil }
        for _ in 0..<2 {
            try await scene.process.restart()
            let finish = try await scene.api.waitForFinish(of: "films")
            #expect(try #require(finish["time"].string) >= restart.rfc3339)
            #expect(try await scene.api.finishes(of: "films").count == 1)
            #expect(try await scene.api.session("films")["finish_due_at"] == .null)
            try await scene.process.kill()
        }
    }

    @Test func putsSingleSubmissionsIntoOneBatchWithinFinishDelay() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("loop", Self.slow)
        var dueTimes: [String] = []
        for _ in 0..<6 {
            let id = try await scene.api.submit(scene.order("/file", ("session", "loop")))
            #expect(try await scene.api.waitForJob(id, .succeeded)["batch"] == 1)
            dueTimes.append(try #require(try await scene.api.session("loop")["finish_due_at"].string))
        }
        // Each ending job postpones the finish.
        #expect(dueTimes == Set(dueTimes).sorted() && dueTimes.count == 6)
        #expect(try await scene.api.finishes(of: "loop") == [])
        // The deletion of the session ends the batch at once.
        #expect([202, 204].contains(try await scene.api.delete("/v1/sessions/loop").status))
        try await scene.api.waitForEnd(of: "loop")
        let finishes = try await scene.api.finishes(of: "loop")
        #expect(finishes.count == 1)
        #expect(finishes.first?["data"]["counts"]["succeeded"] == 6)
    }

    @Test func delaysFinishForPausedAndWaitingJobs() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", Self.quick)
        let ids = try await scene.api.submit(
            all: ["/file", "/held", "/busy"].map { scene.order($0, ("session", "films")) })
        try await scene.api.waitForJob(ids[0], .succeeded)
        try await scene.api.waitForJob(ids[2], .waiting)
        #expect(try await scene.api.post("/v1/jobs/\(ids[1])/pause").status == 200)
        func expectNoFinish() async throws {
            let session = try await scene.api.session("films")
            #expect(session["state"] == "active")
            // No finish is due.
            #expect(session["finish_due_at"] == .null)
            #expect(try await scene.api.finishes(of: "films") == [])
        }
        try await expectNoFinish()
        #expect(try await scene.api.post("/v1/jobs/\(ids[2])/cancel").status == 200)
        try await expectNoFinish()
        #expect(try await scene.api.post("/v1/jobs/\(ids[1])/cancel").status == 200)
        let finish = try await scene.api.waitForFinish(of: "films")
        #expect(finish["data"]["counts"] == ["succeeded": 1, "failed": 0, "cancelled": 2])
    }

    @Test func putsRetryAfterFinishIntoNextBatch() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", Self.quick)
        let id = try await scene.api.submit(scene.order("/missing", ("session", "films")))
        #expect(try await scene.api.waitForFinish(of: "films")["data"]["outcome"] == "failed")
        scene.origin.serve("/missing", .file(scene.bytes))
        #expect(try await scene.api.post("/v1/jobs/\(id)/retry").json["batch"] == 2)
        let second = try await scene.api.waitForFinish(of: "films", batch: 2)
        #expect(second["data"]["outcome"] == "succeeded")
        #expect(second["data"]["counts"] == ["succeeded": 1, "failed": 0, "cancelled": 0])
        #expect(second["data"]["failures"] == [])
    }

    /// The job's first ending no longer counts.
    @Test func keepsRetryBeforeFinishInItsBatch() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", Self.slow)
        let failing = try await scene.api.submit(scene.order("/missing", ("session", "films")))
        try await scene.api.waitForJob(failing, .failed)
        #expect(try await scene.api.session("films")["finish_due_at"] != .null)
        scene.origin.serve("/missing", .file(scene.bytes), .waiting(at: 100_000, for: scene.gate))
        #expect(try await scene.api.post("/v1/jobs/\(failing)/retry").json["batch"] == 1)
        #expect(try await scene.api.session("films")["finish_due_at"] == .null)
        scene.gate.open()
        #expect(try await scene.api.waitForJob(failing, .succeeded)["batch"] == 1)
        #expect([202, 204].contains(try await scene.api.delete("/v1/sessions/films").status))
        let finish = try await scene.api.waitForFinish(of: "films")
        #expect(finish["data"]["outcome"] == "succeeded")
        #expect(finish["data"]["counts"] == ["succeeded": 1, "failed": 0, "cancelled": 0])
    }
}
