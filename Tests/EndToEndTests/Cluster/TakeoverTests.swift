import Formats
import Foundation
import TestKit
import Testing

/// What happens to the jobs of a node that ends, or that stops for a while.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(3))) struct TakeoverTests {
    @Test func jobsOfAKilledNodeSucceedElsewhere() async throws {
        let (origin, receiver) = (try Origin(), try WebhookReceiver())
        let files = (0..<20).map { Content.random(seed: UInt64($0), count: 200_000) }
        for (index, bytes) in files.enumerated() {
            origin.serve("/\(index)", .file(bytes), .limited(bytesPerSecond: 40_000))
        }
        let cluster = try await TestedCluster(
            of: 2, ["--max-concurrent-jobs", "20", "--max-connections-per-host", "100"])
        _ = try await cluster.nodes[1].api.declareWebhook(url: receiver.url, events: ["session.finished"])
        let jobs = try await cluster.submit(files.indices.map { origin.url("/\($0)") })
        try await cluster.wait(for: 20, "running")
        try await cluster.nodes[0].kill()
        let finish = try await receiver.waitFor("session.finished", atMost: .seconds(60))
        #expect(finish.data["counts"]["succeeded"] == 20, "\(finish.data.written)")
        let endings = try await cluster.endings(from: cluster.nodes[1])
        #expect(endings.count == 20 && endings.values.allSatisfy { $0 == 1 }, "\(endings)")
        #expect(Set(endings.keys) == Set(jobs))
        #expect(cluster.nodes[1].log.contains("did not renew its lease"), "\(cluster.nodes[1].log)")
        // The interruption has cost no attempt.
        let listed = try await cluster.nodes[1].api.get("/v1/jobs?limit=100").json["jobs"].arrayValue ?? []
        #expect(listed.allSatisfy { $0["attempts"] == 1 }, "\(listed.map(\.written))")
    }

    /// The stopped node is a zombie: it wakes up after others have taken over, and must change nothing.
    @Test func stoppedNodeChangesNothingWhenItContinues() async throws {
        let origin = try Origin()
        let bytes = Content.random(seed: 1, count: 2_000_000)
        origin.serve("/film", .file(bytes), .limited(bytesPerSecond: 200_000))
        let cluster = try await TestedCluster(of: 2)
        let (zombie, other) = (cluster.nodes[0], cluster.nodes[1])
        // Only the zombie admits jobs at first.
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await zombie.api.waitForBytes(job, atLeast: 100_000)
        try await stop(zombie, until: job, succeedsAt: other)
        let events = try await other.api.events(of: job).map(\.written)
        zombie.signal(SIGCONT)
        _ = try await eventually("the zombie to start again", atMost: .seconds(30)) {
            zombie.log.contains("fetchd starts again") && zombie.log.matches(of: /is ready at/).count == 2
                ? true : nil
        }
        #expect(try await other.api.events(of: job).map(\.written) == events)
        let path = try #require(try await other.api.job(job)["file"]["path"].string)
        #expect(other.downloaded(path) == bytes)
        // It has neither the file nor the part.
        #expect(zombie.downloaded(path) == nil)
        // The new program heeds signals.
        #expect(try await zombie.terminate() == .exited(0))
    }

    /// It cannot store the ends of its attempts, but the other node has their jobs, so nothing is lost.
    @Test func replacedNodeThatIsTerminatedEndsInOrder() async throws {
        let origin = try Origin()
        origin.serve("/film", .file(Content.random(seed: 1, count: 1_000_000)), .limited(bytesPerSecond: 200_000))
        let cluster = try await TestedCluster(of: 2)
        let (zombie, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await zombie.api.waitForBytes(job, atLeast: 100_000)
        try await stop(zombie, until: job, succeedsAt: other)
        zombie.signal(SIGTERM)
        zombie.signal(SIGCONT)
        #expect(try await zombie.waitForEnd() == .exited(0), "\(zombie.log)")
        #expect(!zombie.log.contains("gives up storing"), "\(zombie.log)")
    }

    private func stop(_ node: FetchdProcess, until job: String, succeedsAt other: FetchdProcess) async throws {
        node.signal(SIGSTOP)
        other.signal(SIGCONT)
        _ = try await eventually("the job on the other node", atMost: .seconds(40)) {
            try? await other.api.job(job)["state"] == "succeeded" ? true : nil
        }
    }

    /// The sync of a part does not return, so the replaced node cannot stop in order.
    @Test func replacedNodeWithAHangingDiskStartsAgain() async throws {
        let (faults, origin) = (try await DiskFaults(), try Origin())
        origin.serve("/film", .file(Content.random(seed: 1, count: 1_000_000)), .limited(bytesPerSecond: 200_000))
        let cluster = try await TestedCluster(
            of: 2, ["--stop-timeout", "1"], environmentOfFirst: faults.environment)
        let (hanging, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await hanging.api.waitForBytes(job, atLeast: 100_000)
        try faults.set("fdatasync .part 1 - SLEEP=600000")
        _ = try await eventually("the sync that hangs") { faults.log.isEmpty ? nil : true }
        try await stop(hanging, until: job, succeedsAt: other)
        hanging.signal(SIGCONT)
        _ = try await eventually("the node to start again", atMost: .seconds(30)) {
            hanging.log.matches(of: /is ready at/).count == 2 ? true : nil
        }
        #expect(hanging.log.contains("fetchd starts again"), "\(hanging.log)")
    }

    /// A process that cannot use its disk must not keep the jobs of the process before it.
    @Test func killedNodeWhoseDiskHangsAtTheNextStartKeepsNoJobs() async throws {
        let (faults, origin) = (try await DiskFaults(), try Origin())
        origin.serve("/film", .file(Content.random(seed: 1, count: 400_000)), .limited(bytesPerSecond: 200_000))
        let cluster = try await TestedCluster(of: 2, environmentOfFirst: faults.environment)
        let (killed, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await killed.api.waitForBytes(job, atLeast: 50_000)
        try await killed.kill()
        try faults.set("fsync downloads$ 1 - SLEEP=600000")
        other.signal(SIGCONT)
        // It does not become ready, and ends with the test.
        let start = Task { try await killed.restart() }
        _ = try await eventually("the job on the other node", atMost: .seconds(25)) {
            try? await other.api.job(job)["state"] == "succeeded" ? true : nil
        }
        #expect(faults.log.contains { $0.hasPrefix("fsync ") }, "\(faults.log)")
        start.cancel()
        _ = await start.result
    }

    @Test func terminatedNodeHandsItsJobsOverAtOnce() async throws {
        let origin = try Origin()
        for index in 0..<4 {
            origin.serve(
                "/\(index)", .file(Content.random(seed: UInt64(index), count: 100_000)),
                .limited(bytesPerSecond: 50_000))
        }
        let cluster = try await TestedCluster(of: 2, ["--max-concurrent-jobs", "4"])
        _ = try await cluster.submit((0..<4).map { origin.url("/\($0)") })
        try await cluster.wait(for: 4, "running")
        #expect(try await cluster.nodes[0].terminate() == .exited(0))
        try await cluster.wait(for: 4, "succeeded", atMost: .seconds(30))
        #expect(try await cluster.endings(from: cluster.nodes[1]).count == 4)
        #expect(!cluster.nodes[1].log.contains("did not renew its lease"), "\(cluster.nodes[1].log)")
    }
}
