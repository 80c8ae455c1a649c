import Formats
import Foundation
import TestKit
import Testing

/// What happens to the jobs of a node that ends, or that stops for a while.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(5))) struct TakeoverTests {
    @Test func jobsOfAKilledNodeSucceedElsewhere() async throws {
        let (origin, receiver, gate) = (try Origin(), try WebhookReceiver(), Gate())
        let files = (0..<20).map { Content.random(seed: UInt64($0), count: 200_000) }
        for (index, bytes) in files.enumerated() {
            origin.serve("/\(index)", .file(bytes), .waiting(at: 40_000, for: gate))
        }
        let cluster = try await TestedCluster(
            of: 2, ["--max-concurrent-jobs", "20", "--max-connections-per-host", "100"])
        _ = try await cluster.nodes[1].api.declareWebhook(url: receiver.url, events: ["session.finished"])
        let jobs = try await cluster.submit(files.indices.map { origin.url("/\($0)") })
        try await cluster.wait(for: 20, "running")
        try await cluster.nodes[0].kill()
        gate.open()
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.data["counts"]["succeeded"] == 20, "\(finish.data.written)")
        let endings = try await cluster.endings(from: cluster.nodes[1])
        #expect(endings.count == 20 && endings.values.allSatisfy { $0 == 1 }, "\(endings)")
        #expect(Set(endings.keys) == Set(jobs))
        #expect(cluster.nodes[1].log.contains("did not renew its lease"), "\(cluster.nodes[1].log)")
        // The interruption has cost no attempt.
        let listed = try await cluster.nodes[1].api.get("/v1/jobs?limit=100").json["jobs"].arrayValue ?? []
        #expect(listed.allSatisfy { $0["attempts"] == 1 }, "\(listed.map(\.written))")
    }

    /// The node that appends an event sends it. This one dies while it waits for the answer.
    @Test func deliveryOfAKilledNodeIsSentByAnother() async throws {
        let (origin, receiver) = (try Origin(), try WebhookReceiver())
        origin.serve("/film", .file(Content.random(seed: 1, count: 1000)))
        receiver.fallSilent(for: 1...1)
        let cluster = try await TestedCluster(of: 2)
        let (killed, other) = (cluster.nodes[0], cluster.nodes[1])
        _ = try await other.api.declareWebhook(url: receiver.url, events: ["job.created"])
        _ = try await cluster.submit([origin.url("/film")])
        let first = try await receiver.waitFor("job.created")
        try await killed.kill()
        let again = try await receiver.waitFor("job.created", count: 2)[1]
        #expect(again.id == first.id)
        _ = try await eventually("the delivery to be acknowledged") {
            let page = try await other.api.get("/v1/sessions/default/webhooks/receiver/deliveries")
            return page.json["deliveries"].arrayValue?.map { $0["state"] } == ["acknowledged"] ? true : nil
        }
    }

    /// The stopped node is a zombie: it wakes up after others have taken over, and must change nothing.
    @Test func stoppedNodeChangesNothingWhenItContinues() async throws {
        let (origin, gate) = (try Origin(), Gate())
        let bytes = Content.random(seed: 1, count: 2_000_000)
        origin.serve("/film", .file(bytes), .waiting(at: 100_000, for: gate))
        let cluster = try await TestedCluster(of: 2)
        let (zombie, other) = (cluster.nodes[0], cluster.nodes[1])
        // Only the zombie admits jobs at first.
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await zombie.api.waitForBytes(job, atLeast: 100_000)
        try await stop(zombie, until: job, succeedsAt: other, opening: gate)
        let events = try await other.api.events(of: job).map(\.written)
        zombie.signal(SIGCONT)
        try await startAgain(zombie)
        #expect(try await other.api.events(of: job).map(\.written) == events)
        let path = try #require(try await other.api.job(job)["file"]["path"].string)
        #expect(other.downloaded(path) == bytes)
        // It has neither the file nor the part.
        #expect(zombie.downloaded(path) == nil)
        // The new process heeds signals.
        #expect(try await zombie.terminate() == .exited(0))
    }

    /// It cannot store the ends of its attempts, but the other node has their jobs, so nothing is lost.
    @Test func replacedNodeThatIsTerminatedEndsInOrder() async throws {
        let (origin, gate) = (try Origin(), Gate())
        origin.serve("/film", .file(Content.random(seed: 1, count: 1_000_000)), .waiting(at: 100_000, for: gate))
        let cluster = try await TestedCluster(of: 2)
        let (zombie, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await zombie.api.waitForBytes(job, atLeast: 100_000)
        try await stop(zombie, until: job, succeedsAt: other, opening: gate)
        zombie.signal(SIGTERM)
        zombie.signal(SIGCONT)
        #expect(try await zombie.waitForEnd() == .exited(0), "\(zombie.log)")
        #expect(!zombie.log.contains("gives up storing"), "\(zombie.log)")
    }

    /// - Parameter gate: holds the file back until the node has stopped.
    private func stop(
        _ node: FetchdProcess, until job: String, succeedsAt other: FetchdProcess, opening gate: Gate
    ) async throws {
        node.signal(SIGSTOP)
        gate.open()
        other.signal(SIGCONT)
        try await wait(for: job, toSucceedAt: other)
    }

    /// Starts the process again that ends because it was replaced, as a service manager does.
    private func startAgain(_ node: FetchdProcess) async throws {
        #expect(try await node.waitForEnd() == .exited(75), "\(node.log)")
        #expect(node.log.contains("fetchd ends with status 75"), "\(node.log)")
        try await node.restart()
    }

    /// Includes the time until the lease of the node before it has expired.
    private func wait(for job: String, toSucceedAt node: FetchdProcess) async throws {
        _ = try await eventually("the job on the other node") {
            try? await node.api.job(job)["state"] == "succeeded" ? true : nil
        }
    }

    /// The sync of a part does not return, so the replaced node cannot stop in order.
    @Test func replacedNodeWithAHangingDiskEnds() async throws {
        let (faults, origin) = (try await DiskFaults(), try Origin())
        let (middle, rest) = (Gate(), Gate())
        origin.serve(
            "/film", .file(Content.random(seed: 1, count: 1_000_000)), .waiting(at: 100_000, for: middle),
            .waiting(at: 900_000, for: rest))
        let cluster = try await TestedCluster(
            of: 2, ["--stop-timeout", "1"], environmentOfFirst: faults.environment)
        let (hanging, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await hanging.api.waitForBytes(job, atLeast: 100_000)
        try faults.set("fdatasync .part 1 - HOLD")
        // There are bytes to sync after the rule is set.
        middle.open()
        _ = try await eventually("the sync that hangs") { faults.log.isEmpty ? nil : true }
        try await stop(hanging, until: job, succeedsAt: other, opening: rest)
        hanging.signal(SIGCONT)
        try await startAgain(hanging)
    }

    /// A process that cannot use its disk must not keep the jobs of the process before it.
    @Test func killedNodeWhoseDiskHangsAtTheNextStartKeepsNoJobs() async throws {
        let (faults, origin, gate) = (try await DiskFaults(), try Origin(), Gate())
        origin.serve("/film", .file(Content.random(seed: 1, count: 400_000)), .waiting(at: 50_000, for: gate))
        let cluster = try await TestedCluster(of: 2, environmentOfFirst: faults.environment)
        let (killed, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await killed.api.waitForBytes(job, atLeast: 50_000)
        try await killed.kill()
        gate.open()
        try faults.set("fsync downloads$ 1 - HOLD")
        other.signal(SIGCONT)
        // It does not become ready, and ends with the test.
        let start = Task { try await killed.restart() }
        try await wait(for: job, toSucceedAt: other)
        _ = try await eventually("the sync that hangs") { faults.log.contains { $0.hasPrefix("fsync ") } ? true : nil }
        start.cancel()
        _ = await start.result
    }

    @Test func terminatedNodeHandsItsJobsOverAtOnce() async throws {
        let (origin, gate) = (try Origin(), Gate())
        for index in 0..<4 {
            origin.serve(
                "/\(index)", .file(Content.random(seed: UInt64(index), count: 100_000)),
                .waiting(at: 50_000, for: gate))
        }
        let cluster = try await TestedCluster(of: 2, ["--max-concurrent-jobs", "4"])
        _ = try await cluster.submit((0..<4).map { origin.url("/\($0)") })
        try await cluster.wait(for: 4, "running")
        #expect(try await cluster.nodes[0].terminate() == .exited(0))
        gate.open()
        try await cluster.wait(for: 4, "succeeded")
        #expect(try await cluster.endings(from: cluster.nodes[1]).count == 4)
        #expect(!cluster.nodes[1].log.contains("did not renew its lease"), "\(cluster.nodes[1].log)")
    }
}
