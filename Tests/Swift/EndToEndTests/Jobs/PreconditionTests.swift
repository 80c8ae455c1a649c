import Formats
import TestKit
import Testing

/// `If-Match`: an action or a change is carried out only if the job has not changed since the client read it.
@Suite struct PreconditionTests {
    /// Every request that honours `If-Match`, for a paused job.
    private static let requests: [(method: String, path: String, body: JSON?)] = [
        ("PATCH", "", ["metadata": ["n": 1]]), ("POST", "/pause", nil), ("POST", "/resume", nil),
        ("POST", "/cancel", nil), ("POST", "/cancel", ["produce_resume_data": true]),
    ]

    private func send(
        _ request: (method: String, path: String, body: JSON?), _ id: String, _ tag: String, _ api: APIClient
    )
        async throws -> APIAnswer
    {
        try await api.send(request.method, "/v1/jobs/\(id)\(request.path)", request.body, headers: [("If-Match", tag)])
    }

    @Test func answers412WhenIfMatchIsStale() async throws {
        let scene = try await Scene()
        let id = try await scene.pausedJob()
        let before = try await scene.api.get("/v1/jobs/\(id)")
        let revision = try #require(before.json["revision"].integer)
        for request in Self.requests {
            for tag in [
                "\"\(revision - 1)\"", "\"\(revision + 1).0\"", "W/\"\(revision - 1)\"", "\"\"", "x", "\"a.b\"",
            ] {
                let answer = try await send(request, id, tag, scene.api)
                #expect(answer.status == 412, "\(request.method) \(request.path) \(tag)")
                #expect(answer.problem == .init(kind: "precondition-failed"))
            }
        }
        for request in Self.requests {
            let empty = try await send(request, id, "", scene.api)
            #expect(empty.status == 400 && empty.problem == .init(kind: "malformed-request"), "\(empty)")
        }
        let after = try await scene.api.get("/v1/jobs/\(id)")
        #expect(after.json == before.json)
        #expect(after.header("ETag") == before.header("ETag"))
        // The revision is checked before the state: a stale client gets 412 instead of 409.
        let done = try await scene.job(in: .succeeded)
        #expect(try await send(("POST", "/pause", nil), done, "\"1\"", scene.api).status == 412)
        #expect(try await send(("POST", "/pause", nil), "job_unknown", "\"1\"", scene.api).status == 404)
    }

    @Test(arguments: Self.requests.indices)
    func acceptsCurrentRevisionInIfMatch(_ index: Int) async throws {
        let scene = try await Scene()
        let request = Self.requests[index]
        // A resumed job ends, and leaves a reusable connection.
        scene.origin.serve(
            "/held", .file(scene.bytes),
            .waiting(at: 100_000, for: scene.gate).when { $0.request.header("Range") == nil })
        for shown in ["R", "R.P", "*"] {
            let id = try await scene.pausedJob()
            let answer = try await scene.api.get("/v1/jobs/\(id)")
            let tag = try #require(answer.header("ETag"))
            let revision = try #require(answer.json["revision"].integer)
            #expect(tag.hasPrefix("\"\(revision)."))
            let field = shown == "R" ? "\"\(revision)\"" : shown == "*" ? "*" : tag
            #expect(try await send(request, id, field, scene.api).status == 200, "\(field)")
        }
    }

    /// Progress does not change the revision: an ETag read earlier in the same revision still matches.
    @Test func acceptsEarlierProgressOfSameRevisionInIfMatch() async throws {
        let scene = try await Scene()
        let id = try await scene.heldJob()
        // At the latest, the ETag changes when the speed of the held response drops.
        let earlier = try await eventually("progress after the first view") {
            let answer = try await scene.api.get("/v1/jobs/\(id)")
            let revision = try #require(answer.json["revision"].integer)
            let first = "\"\(revision).1\""
            return answer.header("ETag") == first ? nil : first
        }
        #expect(try await send(("POST", "/pause", nil), id, earlier, scene.api).json["state"] == "paused")
        #expect(try await send(("POST", "/resume", nil), id, earlier, scene.api).status == 412)
    }

    @Test func acceptsOneOfTenConcurrentPatchesWithSameIfMatch() async throws {
        let scene = try await Scene()
        let id = try await scene.pausedJob()
        let tag = try #require(try await scene.api.get("/v1/jobs/\(id)").header("ETag"))
        let api = scene.api
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<10 {
                group.addTask {
                    try await api.patch(id, ["metadata": ["n": .count(number)]], headers: [("If-Match", tag)]).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 9))
    }
}
