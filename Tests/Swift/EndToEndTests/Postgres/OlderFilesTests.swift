import Formats
import Foundation
import PostgresClient
import TestKit
import Testing

/// Version 0.2.0 on PostgreSQL knows no nodes: its jobs and parts name none.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct OlderFilesTests {
    @Test func theNodeThatHasThemContinuesWithThem() async throws {
        let (server, origin, gate) = (try await PostgresServer(.durable), try Origin(), Gate())
        let film = Content.random(seed: 1, count: 4_000_000)
        // The film is held in the middle, until the job is paused.
        origin.serve("/film", .file(film), OriginBehaviour.waiting(at: 1_000_000, for: gate).once)
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--store", server.url()]))
        let job = try await fetchd.api.submit(["url": .string(origin.url("/film"))])
        try await fetchd.api.waitForBytes(job, atLeast: 500_000)
        #expect(try await fetchd.api.post("/v1/jobs/\(job)/pause").status == 200)
        try await fetchd.stop()
        try makeOlder(fetchd.folder, server)
        try await fetchd.restart()
        #expect(try await fetchd.api.get("/v1/nodes").json["nodes"].arrayValue?.last?["number"] == 2)
        #expect(try await fetchd.api.post("/v1/jobs/\(job)/resume").status == 200)
        let ended = try await fetchd.api.waitForJob(job, .succeeded)
        #expect(ended["resume"]["decision"] == "resumed", "\(ended.written)")
        #expect(fetchd.downloaded(try #require(ended["file"]["path"].string)) == film)
    }

    /// Leaves what version 0.2.0 would have left. The service is another node after that.
    private func makeOlder(_ folder: TemporaryFolder, _ server: PostgresServer) throws {
        try FileManager.default.removeItem(atPath: folder.path("data/node"))
        let part = try #require(folder.files.first { $0.hasSuffix(".part") })
        let older = try #require(part.split(separator: "-").first.map { "\($0).part" })
        try FileManager.default.moveItem(atPath: folder.path(part), toPath: folder.path(older))
        try PostgresConnection(to: PostgresTarget(url: server.url())).execute(
            script: """
                UPDATE jobs SET node = NULL;
                UPDATE parts SET id = split_part(id, '-', 1);
                UPDATE journal SET first_node = NULL;
                """)
    }
}
