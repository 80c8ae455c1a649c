import TestKit
import Testing

/// A large session is acted on in several transactions; for the client it is one action.
@Suite struct LargeSessionActionTests {
    private static let count = 1200

    @Test func pausesResumesAndCancelsTwelveHundredJobs() async throws {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        let api = scene.api
        try await api.declareSession("films", ["finish_delay_seconds": 0.05, "max_concurrent_jobs": 1])
        let orders = Array(repeating: scene.order("/held", ("session", "films")), count: Self.count)
        let ids = try await api.submit(all: orders)
        try await api.waitForBytes(ids[0], atLeast: 100_000)

        let all = Int64(Self.count)
        #expect(try await api.perform("pause", onAllOf: "films").counts == ["paused": all])
        #expect(try await api.job(ids[0])["progress"]["bytes_durable"] == 100_000)
        let resumed = try await api.perform("resume", onAllOf: "films").counts
        #expect((resumed["queued"] ?? 0) + (resumed["running"] ?? 0) == all)
        #expect(try await api.perform("cancel", onAllOf: "films").counts == ["cancelled": all])
        let finish = try await api.waitForFinish(of: "films")
        #expect(finish["data"]["counts"]["cancelled"].integer == all)
        // Each job has one event for each action.
        for type in ["job.paused", "job.cancelled"] {
            let told = try await api.journal(of: "films", type: type).compactMap { $0["job"].string }
            #expect(told.sorted() == ids.sorted(), "\(type)")
        }
        #expect(try await api.finishes(of: "films").count == 1)
    }

    /// Jobs that end during the action neither make it fail nor count twice.
    @Test func countsEachJobOnceWhenActionMeetsEndingJobs() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 0.05])
        let ids = try await scene.api.submit(
            all: Array(repeating: scene.order("/file", ("session", "films")), count: 100))
        for action in ["pause", "resume", "pause", "cancel"] {
            let counts = try await scene.api.perform(action, onAllOf: "films").counts
            // Only jobs whose file is being promoted can no longer be cancelled.
            if action == "cancel" { #expect(Set(counts.keys).isSubset(of: ["succeeded", "cancelled", "running"])) }
        }
        let counts = try await scene.api.waitForFinish(of: "films")["data"]["counts"]
        #expect(counts["failed"] == 0)
        let (succeeded, cancelled) = (counts["succeeded"].integer ?? 0, counts["cancelled"].integer ?? 0)
        #expect(succeeded + cancelled == 100)
        for (type, count) in [("job.succeeded", succeeded), ("job.cancelled", cancelled)] {
            let told = try await scene.api.journal(of: "films", type: type).compactMap { $0["job"].string }
            #expect(Set(told).count == told.count && told.count == Int(count) && Set(told).isSubset(of: ids))
        }
    }
}
