import Formats
import TestKit
import Testing

/// `POST /v1/jobs/{id}/move`, and jobs that are created paused.
@Suite struct QueueMoveRequestTests {
    private static let url: JSON = "https://192.0.2.1/file"

    private func service() async throws -> (service: LocalService, ids: [String]) {
        let service = try await LocalService.start()
        var ids: [String] = []
        for _ in 0..<3 { ids.append(try await service.api.submit(["url": Self.url, "state": "paused"])) }
        return (service, ids)
    }

    private func order(_ service: LocalService) async throws -> [String] {
        let jobs = try await service.api.get("/v1/jobs").json["jobs"].arrayValue ?? []
        return jobs.compactMap { job in
            job["id"].string.map { (id: $0, rank: job["queue_rank"].string ?? $0) }
        }.sorted { $0.rank < $1.rank }.map(\.id)
    }

    @Test func aJobIsCreatedPaused() async throws {
        let (service, ids) = try await service()
        #expect(try await service.api.job(ids[0])["state"] == "paused")
        #expect(try await service.api.events(of: ids[0]).map { $0["type"] } == ["job.created", "job.paused"])
        let refused = try await service.api.post("/v1/jobs", ["url": Self.url, "state": "running"])
        #expect(refused.status == 422 && refused.json["pointer"] == "/state")
        try await service.stop()
    }

    @Test func aMoveChangesTheOrderOfTheRanks() async throws {
        let (service, ids) = try await service()
        func move(_ index: Int, _ body: JSON) async throws -> APIAnswer {
            try await service.api.post("/v1/jobs/\(ids[index])/move", body)
        }
        #expect(try await order(service) == ids)
        #expect(try await move(2, ["to": "top"]).status == 200)
        #expect(try await order(service) == [ids[2], ids[0], ids[1]])
        #expect(try await move(0, ["to": "bottom"]).status == 200)
        #expect(try await order(service) == [ids[2], ids[1], ids[0]])
        #expect(try await move(0, ["before": .string(ids[1])]).status == 200)
        #expect(try await order(service) == [ids[2], ids[0], ids[1]])
        #expect(try await move(2, ["after": .string(ids[0])]).status == 200)
        #expect(try await order(service) == [ids[0], ids[2], ids[1]])
        #expect(try await move(1, ["position": 1]).status == 200)
        #expect(try await order(service) == [ids[0], ids[1], ids[2]])
        #expect(try await service.api.events(of: ids[2]).last?["type"] == "job.moved")
        try await service.stop()
    }

    @Test(arguments: [
        ("{}", 422, "/problems/missing-field"), (#"{"to": "middle"}"#, 422, "/problems/invalid-value"),
        (#"{"to": "top", "position": 1}"#, 422, "/problems/invalid-value"),
        (#"{"position": -1}"#, 422, "/problems/invalid-value"), (#"{"above": 1}"#, 422, "/problems/unknown-field"),
        (#"{"before": "job_0"}"#, 409, "/problems/state-conflict"),
    ])
    func refuses(_ body: String, _ status: Int, _ type: String) async throws {
        let (service, ids) = try await service()
        let answer = try await service.api.post("/v1/jobs/\(ids[0])/move", .text(body))
        #expect(answer.status == status && answer.json["type"].string == type)
        try await service.stop()
    }
}
