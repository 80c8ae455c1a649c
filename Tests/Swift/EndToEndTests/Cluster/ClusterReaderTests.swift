import Formats
import Foundation
import TestKit
import Testing

/// Readers with a cursor at each node, while all nodes write and some are killed.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(3))) struct ClusterReaderTests {
    @Test func aNodeThatStartsReportsProgressOfOtherNodes() async throws {
        let origin = try Origin()
        origin.serve(
            "/film", .file(Content.random(seed: 1, count: 3_000_000)), .limited(bytesPerSecond: 25_000))
        let cluster = try await TestedCluster(of: 2)
        let (first, second) = (cluster.nodes[0], cluster.nodes[1])
        try await second.kill()
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await first.api.waitForBytes(job)
        try await second.restart()
        let listener = try EventListener(to: second.port)
        try await listener.wait(for: "progress") { state in
            state.messages.contains { $0.type == "job.progress" && $0.data["job"].string == job }
        }
    }

    @Test func everyReaderSeesEveryEventOnceAndInOrder() async throws {
        let cluster = try await TestedCluster(of: 3)
        let (writers, rounds) = (4, 12)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in cluster.nodes {
                for _ in 0..<writers {
                    group.addTask {
                        for _ in 0..<rounds {
                            // A killed node refuses the connection; what it has acknowledged is counted by the readers.
                            _ = try? await node.api.post(
                                "/v1/jobs", ["url": "http://127.0.0.1:1/", "not_before": "2090-01-01T00:00:00Z"])
                        }
                    }
                }
            }
            group.addTask {
                for node in [cluster.nodes[2], cluster.nodes[1]] {
                    try await node.kill()
                    try await node.restart()
                }
            }
            try await group.waitForAll()
        }
        let expected = try await cluster.nodes[0].api.events().compactMap { $0["id"].integerValue }
        try #require(expected.count >= rounds * writers)
        #expect(expected == Array(1...Int64(expected.count)))
        for node in cluster.nodes {
            let seen = try await eventually("all events at the node") {
                let ids = try await node.api.events().compactMap { $0["id"].integerValue }
                return ids.count >= expected.count ? ids : nil
            }
            #expect(seen == expected)
        }
    }
}
