import Formats
import Foundation
import PostgresClient
import TestKit
import Testing

/// Parts and finished files of several services that share a database.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(3))) struct ClusterFileTests {
    private let bytes = Content.random(seed: 3, count: 2_000_000)
    private let origin: Origin
    private let shared: TemporaryFolder
    private let gate = Gate()

    init() throws {
        (origin, shared) = (try Origin(), try TemporaryFolder())
        origin.serve("/film", .file(bytes), .waiting(at: 1_000_000, for: gate))
        origin.serve("/file", .file(bytes))
    }

    /// Begins a job on the first node, and kills that node when some of its bytes are durable. The second one continues.
    private func takeOver(in cluster: TestedCluster) async throws -> JSON {
        let (first, second) = (cluster.nodes[0], cluster.nodes[1])
        second.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await first.api.waitForBytes(job, atLeast: 100_000, durable: true)
        try await first.kill()
        gate.open()
        second.signal(SIGCONT)
        return try await eventually("the job on the other node") {
            let job = try? await second.api.job(job)
            return job?["state"] == "succeeded" ? job : nil
        }
    }

    @Test func keepsTheBytesInASharedFolder() async throws {
        let folder = shared.path("downloads")
        let cluster = try await TestedCluster(of: 2, ["--downloads", "shared", "--downloads-dir", folder])
        let job = try await takeOver(in: cluster)
        #expect(job["resume"]["decision"] == "resumed", "\(job.written)")
        let path = try #require(job["file"]["path"].string)
        #expect(shared.bytes(of: "downloads/\(path)") == bytes)
        _ = try await eventually("the parts of both nodes to be gone") {
            shared.files == ["downloads/\(path)"] ? true : nil
        }
    }

    @Test func beginsAgainInAnotherFolder() async throws {
        let cluster = try await TestedCluster(of: 2)
        let job = try await takeOver(in: cluster)
        #expect(job["resume"]["decision"] == "restarted", "\(job.written)")
        #expect(job["resume"]["why"] == "part_missing")
        #expect(cluster.nodes[1].downloaded(try #require(job["file"]["path"].string)) == bytes)
        // Before that, the node was stopped.
        let log = cluster.nodes[1].log
        let taken = try #require(log.firstRange(of: "has taken over jobs. "), "\(log)")
        #expect(!log[taken.upperBound...].contains(" error "), "\(log)")
        // The first node removes the bytes that nothing needs any more.
        #expect(cluster.nodes[0].folder.files.contains { $0.hasSuffix(".part") })
        try await cluster.nodes[0].restart()
        #expect(try await cluster.nodes[0].partFilesAreRemoved())
    }

    /// A file in the folder of one node, asked of the other one.
    private func finished(in cluster: TestedCluster) async throws -> (job: String, path: String, owner: Int) {
        let job = try await cluster.submit([origin.url("/file")])[0]
        let path = try #require(try await cluster.nodes[0].api.waitForJob(job, .succeeded)["file"]["path"].string)
        let owner = try #require(cluster.nodes.firstIndex { $0.downloaded(path) != nil })
        return (job, path, owner)
    }

    @Test func anyNodeAnswersWithTheFile() async throws {
        let cluster = try await TestedCluster(of: 2)
        let (job, _, owner) = try await finished(in: cluster)
        let asked = cluster.nodes[1 - owner]
        let answer = try await asked.api.get("/v1/jobs/\(job)/file")
        #expect(answer.status == 200)
        #expect(answer.body == bytes)
        // The load balancer may send the request with a ticket to another node than the request for it.
        let ticket = try #require(try await cluster.nodes[owner].api.post("/v1/tickets").json["ticket"].string)
        #expect(try await asked.api.get("/v1/jobs/\(job)/file?ticket=\(ticket)").body == bytes)
        let connection = try PostgresConnection(to: PostgresTarget(url: cluster.server.url()))
        try connection.execute(script: "UPDATE nodes SET url = NULL")
        let away = try await asked.api.get("/v1/jobs/\(job)/file")
        #expect(away.status == 503)
        #expect(away.json["detail"].string?.contains("--node-url") == true, "\(away)")
    }

    @Test func theOtherNodeRemovesItsFile() async throws {
        let cluster = try await TestedCluster(of: 2)
        let (job, path, owner) = try await finished(in: cluster)
        #expect(try await cluster.nodes[1 - owner].api.delete("/v1/jobs/\(job)?file=delete").status == 204)
        _ = try await eventually("the file to be removed") {
            cluster.nodes[owner].downloaded(path) == nil ? true : nil
        }
    }
}
