import Formats
import Foundation
import TestKit
import Testing

/// A service that shares its database is killed while it sends a file to a bucket. Another one ends the job.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(5))) struct BucketTakeoverTests {
    private func start(_ server: BucketServer, _ folder: TemporaryFolder) async throws -> TestedCluster {
        let key = folder.path("key.ini")
        let text = "[default]\naws_access_key_id=\(server.keyID)\naws_secret_access_key=\(server.secret)\n"
        try Data(text.utf8).write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        return try await TestedCluster(
            of: 2, ["--location", server.location("archive"), "--location-credentials", "archive=\(key)"])
    }

    @Test(arguments: [("freeze-before", "UploadPart"), ("freeze-after", "CompleteMultipartUpload")])
    func anotherServiceEndsTheJob(_ action: String, _ operation: String) async throws {
        let (server, origin, folder) = (try await BucketServer(), try Origin(), try TemporaryFolder())
        let bytes = Content.random(seed: 12, count: 9 << 20)
        origin.serve("/film", .file(bytes))
        let cluster = try await start(server, folder)
        let (killed, other) = (cluster.nodes[0], cluster.nodes[1])
        // Only the first one admits the job.
        other.signal(SIGSTOP)
        try await server.set(.init(action, 1, operation))
        let id = try await killed.api.submit([
            "url": .string(origin.url("/film")), "destination": ["location": "archive", "on_conflict": "error"],
        ])
        _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
        other.signal(SIGCONT)
        try await killed.kill()
        try await server.set()
        let job = try await other.api.waitForJob(id, .succeeded)
        #expect(job["file"]["path"] == "film")
        #expect(try await other.api.get("/v1/jobs/\(id)/file").body == bytes)
        let state = try await server.state()
        #expect(state.objects == ["film": SHA.hexadecimal(of: bytes)] && state.uploads.isEmpty)
        #expect(try await cluster.endings(from: other) == [id: 1])
    }

    /// The disk of the killed service is not there, but the bucket has its parts.
    @Test func anotherServiceContinuesWithThePartsOfTheBucket() async throws {
        let (server, origin, folder) = (try await BucketServer(), try Origin(), try TemporaryFolder())
        let (bytes, gate) = (Content.random(seed: 13, count: 40 << 20), Gate())
        origin.serve("/film", .file(bytes), .waiting(at: 30 << 20, for: gate))
        let cluster = try await start(server, folder)
        let (killed, other) = (cluster.nodes[0], cluster.nodes[1])
        other.signal(SIGSTOP)
        let id = try await killed.api.submit([
            "url": .string(origin.url("/film")), "destination": ["location": "archive", "on_conflict": "error"],
        ])
        _ = try await eventually("durable bytes") {
            let progress = try await killed.api.job(id)["progress"]
            let parts = try await server.state().log.count { $0 == "UploadPart" }
            return progress["bytes_durable"].integer ?? 0 >= 30 << 20 && parts >= 3 ? true : nil
        }
        other.signal(SIGCONT)
        try await killed.kill()
        gate.open()
        let job = try await other.api.waitForJob(id, .succeeded)
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": .count(24 << 20)])
        let state = try await server.state()
        #expect(state.objects == ["film": SHA.hexadecimal(of: bytes)] && state.uploads.isEmpty)
        #expect(try await cluster.endings(from: other) == [id: 1])
    }
}
