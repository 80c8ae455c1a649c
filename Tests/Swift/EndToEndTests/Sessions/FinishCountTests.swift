import Formats
import TestKit
import Testing

/// Counts and outcome of a finish, also when jobs of the batch were deleted before.
@Suite struct FinishCountTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let paths: [String]
        let outcome: JSON
        let counts: JSON

        var testDescription: String { outcome.written }
    }

    private static let cases = [
        Case(
            paths: ["/file", "/file"], outcome: "succeeded", counts: ["succeeded": 2, "failed": 0, "cancelled": 0]),
        Case(
            paths: ["/file", "/missing", "/held"], outcome: "partly_failed",
            counts: ["succeeded": 1, "failed": 1, "cancelled": 1]),
        Case(paths: ["/missing", "/held"], outcome: "failed", counts: ["succeeded": 0, "failed": 1, "cancelled": 1]),
        Case(paths: ["/held", "/held"], outcome: "cancelled", counts: ["succeeded": 0, "failed": 0, "cancelled": 2]),
        Case(paths: ["/file", "/held"], outcome: "succeeded", counts: ["succeeded": 1, "failed": 0, "cancelled": 1]),
    ]

    /// Jobs of `/held` are cancelled.
    @Test func reportsOutcomeAndCountsOfBatch() async throws {
        let scene = try await Scene()
        for (index, example) in Self.cases.enumerated() {
            let session = "films-\(index)"
            try await scene.api.declareSession(session, ["finish_delay_seconds": 0.05])
            let ids = try await scene.api.submit(
                all: example.paths.map { scene.order($0, ("session", .string(session))) })
            for (id, path) in zip(ids, example.paths) where path == "/held" {
                #expect(try await scene.api.post("/v1/jobs/\(id)/cancel").status == 200)
            }
            let finish = try await scene.api.waitForFinish(of: session)
            #expect(finish["data"]["outcome"] == example.outcome, "\(example.paths)")
            #expect(finish["data"]["counts"] == example.counts, "\(example.paths)")

            let journal = try await scene.api.journal(of: session)
            #expect(journal.last == finish)
            #expect(finish["data"]["first_event"] == journal[0]["id"])
            #expect(finish["data"]["last_event"] == journal[journal.count - 2]["id"])

            let failures = finish["data"]["failures"].arrayValue ?? []
            let failed = zip(ids, example.paths).filter { $0.1 == "/missing" }.map(\.0)
            #expect(failures.compactMap { $0["job"].string } == failed)
            #expect(failures.allSatisfy { $0["code"] == "bad_status" && $0["status"] == 404 })
        }
    }

    @Test func countsDeletedJobs() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        let ids = try await scene.api.submit(
            all: ["/file", "/file", "/missing", "/held"].map { scene.order($0, ("session", "films")) })
        for id in ids[...1] { try await scene.api.waitForJob(id, .succeeded) }
        try await scene.api.waitForJob(ids[2], .failed)
        for id in ids[...2] { #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204) }
        scene.gate.open()
        let finish = try await scene.api.waitForFinish(of: "films")
        #expect(finish["data"]["outcome"] == "partly_failed")
        #expect(finish["data"]["counts"] == ["succeeded": 3, "failed": 1, "cancelled": 0])
        // Deleting a job does not change the finish.
        #expect(try await scene.api.delete("/v1/jobs/\(ids[3])").status == 204)
        #expect(try await scene.api.finishes(of: "films") == [finish])
        #expect(try await scene.api.counts(of: "films") == [:])
    }

    @Test(arguments: ["cancelling", "deleting"])
    func finishesBatchWhoseJobsAreAllCancelledOrDeleted(_ way: String) async throws {
        let (scene, receiver) = (try await Scene(), try WebhookReceiver())
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05, "max_concurrent_jobs": 1])
        try await scene.api.declareWebhook(of: "films", url: receiver.url)
        let ids = try await scene.api.submit(
            all: ["/held", "/file"].map { scene.order($0, ("session", "films")) })
        try await scene.api.waitForBytes(ids[0])
        // The queued job first, or it would start when the other has ended.
        for id in ids.reversed() {
            let answer =
                way == "deleting"
                ? try await scene.api.delete("/v1/jobs/\(id)") : try await scene.api.post("/v1/jobs/\(id)/cancel")
            #expect(answer.status == (way == "deleting" ? 204 : 200))
        }
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.data["outcome"] == "cancelled")
        #expect(finish.data["counts"] == ["succeeded": 0, "failed": 0, "cancelled": 2])
        #expect(try await scene.api.counts(of: "films") == (way == "deleting" ? [:] : ["cancelled": 2]))
        #expect(try await scene.api.finishes(of: "films").count == 1)
    }

    /// The event stays small; the journal between its first and last event has the other failures.
    @Test func listsFirstHundredFailures() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        let ids = try await scene.api.submit(
            all: Array(repeating: scene.order("/missing", ("session", "films")), count: 103))
        let finish = try await scene.api.waitForFinish(of: "films")
        #expect(finish["data"]["counts"]["failed"] == 103)
        #expect(finish["data"]["failures"].arrayValue?.compactMap { $0["job"].string } == Array(ids.prefix(100)))
    }
}
