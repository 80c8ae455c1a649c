import Formats
import Foundation
import TestKit
import Testing

/// The limits of sessions and hosts hold over all nodes, as the origins see them.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(3))) struct ClusterLimitTests {
    /// Serves small files that take half a second each.
    private static func origin() throws -> Origin {
        let origin = try Origin()
        for index in 0..<12 {
            origin.serve(
                "/\(index)", .file(Content.random(seed: UInt64(index), count: 30_000)),
                .limited(bytesPerSecond: 60_000))
        }
        return origin
    }

    @Test func originsNeverSeeMoreThanTheLimits() async throws {
        let (host, session) = (try Self.origin(), try Self.origin())
        let cluster = try await TestedCluster(of: 3, ["--max-connections-per-host", "2"])
        _ = try await cluster.nodes[0].api.declareSession("one", ["max_concurrent_jobs": 1])
        for node in 0..<3 {
            let paths = (0..<4).map { "/\(node * 4 + $0)" }
            _ = try await cluster.submit(paths.map(host.url), to: node)
            _ = try await cluster.submit(paths.map(session.url), to: node, session: "one")
        }
        try await cluster.wait(for: 24, "succeeded")
        #expect(host.maxConcurrentRequests == 2, "\(cluster.logs)")
        #expect(session.maxConcurrentRequests == 1, "\(cluster.logs)")
    }

    @Test func limitThatAClientSetsIsThatOfAllNodes() async throws {
        let origin = try Self.origin()
        let cluster = try await TestedCluster(of: 3, ["--max-connections-per-host", "100"])
        let answer = try await cluster.nodes[1].api.send("PATCH", "/v1/service", ["max_concurrent_jobs": 4])
        #expect(answer.status == 200, "\(answer)")
        // The other nodes need not have heard of it.
        _ = try await cluster.submit((0..<12).map { origin.url("/\($0)") })
        try await cluster.wait(for: 12, "succeeded")
        #expect(origin.maxConcurrentRequests <= 4, "\(cluster.logs)")
    }

    /// Each node alone would keep it.
    @Test func allNodesTogetherKeepThePaceOfAHost() async throws {
        let origin = try Origin()
        let arrivals = Monitor<[ContinuousClock.Instant]>([])
        let note = OriginBehaviour(prepare: { _ in arrivals.withLock { $0.append(.now) } })
        origin.serve("/f", .file(Content.random(seed: 1, count: 1000)), note)
        let cluster = try await TestedCluster(of: 3, ["--hosts", "127.0.0.1 requests_per_second=10"])
        for node in 0..<3 { _ = try await cluster.submit((0..<24).map { origin.url("/f?\(node)-\($0)") }, to: node) }
        try await cluster.wait(for: 72, "succeeded")
        let times = arrivals.current.sorted()
        #expect(times.count == 72, "\(cluster.logs)")
        #expect(times[0].duration(to: times[71]) > .seconds(71 / 10.5), "\(cluster.logs)")
        // A request may arrive late, but never early.
        let counts = times.map { start in times.count { $0 >= start && start.duration(to: $0) < .seconds(5) } }
        #expect(counts.max() ?? 0 <= 52, "\(cluster.logs)")
    }
}
