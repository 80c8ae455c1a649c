import Formats
import Foundation
import TestKit
import Testing

/// A node whose network to the database is cut, while clients, origins and the other nodes reach it.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(5))) struct PartitionTests {
    @Test func nodeThatLosesTheDatabaseAnswers503AndGivesUpItsJobs() async throws {
        let origin = try Origin()
        let bytes = Content.random(seed: 1, count: 3_000_000)
        origin.serve("/film", .file(bytes), .limited(bytesPerSecond: 200_000))
        let cluster = try await TestedCluster(of: 2, pathOfFirst: { try NetworkPath(to: $0) })
        let (lonely, other) = (cluster.nodes[0], cluster.nodes[1])
        let path = try #require(cluster.path)
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await lonely.api.waitForBytes(job, atLeast: 100_000)
        // The answers are in its memory now.
        for view in Self.views(of: job) { #expect(try await lonely.api.get(view).status == 200) }
        other.signal(SIGCONT)
        path.cut()
        _ = try await eventually("the takeover") {
            other.log.contains("taken over jobs. Queued again: 1.") ? true : nil
        }
        for view in Self.views(of: job) {
            let answer = try await lonely.api.get(view)
            #expect(answer.status == 503 && answer.header("Retry-After") != nil, "\(view): \(answer)")
        }
        #expect(try await lonely.api.get("/readyz").status == 503)
        #expect(try await lonely.api.get("/livez").status == 200)
        try await cluster.wait(for: 1, "succeeded")
        path.mend()
        #expect(try await lonely.waitForEnd() == .exited(75), "\(lonely.log)")
        try await lonely.restart()
        let file = try #require(try await lonely.api.job(job)["file"]["path"].string)
        #expect(other.downloaded(file) == bytes && lonely.downloaded(file) == nil)
        #expect(try await cluster.endings(from: lonely) == [job: 1])
    }

    /// Each is answered from memory while the node has its lease.
    private static func views(of job: String) -> [String] {
        ["/v1/jobs/\(job)", "/v1/jobs", "/v1/events", "/v1/stats", "/v1/sessions"]
    }

    /// A client that listens at the node goes to another one.
    @Test func streamsEndWithTheLease() async throws {
        let cluster = try await TestedCluster(of: 2, pathOfFirst: { try NetworkPath(to: $0) })
        let listener = try EventListener(to: cluster.nodes[0].port)
        try await listener.wait(for: "the stream") { $0.status == 200 }
        let path = try #require(cluster.path)
        path.cut()
        try await listener.wait(for: "the end of the stream") { $0.end != nil }
        path.mend()
    }
}
