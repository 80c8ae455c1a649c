import TestKit
import Testing

/// `GET /v1/jobs`: newest first, in stable pages, filtered by session, state and tag.
@Suite struct JobListTests {
    /// A session whose jobs stay queued behind a job that is held.
    private func queueing(_ count: Int) async throws -> (scene: Scene, ids: [String]) {
        let scene = try await Scene()
        try await scene.api.declareSession("narrow", ["max_concurrent_jobs": 1])
        try await scene.api.waitForBytes(scene.api.submit(scene.order("/held", ("session", "narrow"))))
        let jobs = (0..<count).map { number in
            scene.order().with(["session": "narrow", "tags": number % 5 == 0 ? ["all", "fifth"] : ["all"]])
        }
        let created = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        return (scene, created.json["jobs"].arrayValue?.compactMap { $0["id"].string } ?? [])
    }

    /// An unchanged page is answered from memory.
    @Test func listsAJobThatWasJustSubmitted() async throws {
        let (scene, ids) = try await queueing(2)
        for _ in 0..<3 {
            let before = try await scene.api.get("/v1/jobs?state=queued")
            #expect(try await scene.api.get("/v1/jobs?state=queued").json == before.json)
            let id = try await scene.api.submit(scene.order("/file", ("session", "narrow")))
            let after = try await scene.api.get("/v1/jobs?state=queued")
            #expect(after.json["jobs"][0]["id"].string == id)
            #expect(after.json["jobs"].count == before.json["jobs"].count + 1)
        }
        _ = try await scene.api.post("/v1/jobs/\(ids[0])/cancel")
        #expect(try await scene.api.get("/v1/jobs?state=queued").json["jobs"].count == 4)
    }

    @Test func listsEachJobOnceAcrossPages() async throws {
        let (scene, ids) = try await queueing(249)
        let first = try await scene.api.get("/v1/jobs")
        #expect(first.json["jobs"].count == 100)
        let cursor = try #require(first.json["next_cursor"].string)
        // Jobs that are created or deleted between two pages do not move others.
        try await scene.api.submit(scene.order("/missing"))
        _ = try await scene.api.delete("/v1/jobs/\(ids[248])")
        let second = try await scene.api.get("/v1/jobs?cursor=\(cursor)")
        let third = try await scene.api.get("/v1/jobs?cursor=\(try #require(second.json["next_cursor"].string))")
        #expect(third.json["next_cursor"] == nil)
        let seen = [first, second, third].flatMap { $0.json["jobs"].arrayValue ?? [] }.compactMap { $0["id"].string }
        #expect(seen.count == 250)
        #expect(Array(seen.prefix(249)) == ids.reversed())
        #expect(seen == seen.sorted(by: >))
    }

    /// Jobs that are created and deleted meanwhile do not move the others: each remaining job is listed once.
    @Test func listsEachRemainingJobOnceDuringConcurrentWrites() async throws {
        let (scene, ids) = try await queueing(400)
        let stays = Set(ids.indices.filter { $0 % 2 == 0 }.map { ids[$0] })
        let order = scene.order("/file", ("session", "narrow"), ("tags", ["all"]))
        let isOver = Monitor(false)
        async let writers: Int = withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    var count = 0
                    for index in stride(from: 2 * lane + 1, to: ids.count, by: 8) where !isOver.current {
                        _ = try await scene.api.delete("/v1/jobs/\(ids[index])")
                        try await scene.api.submit(order)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        for _ in 0..<3 {
            for query in ["tag=all", "session=narrow&state=queued"] {
                let pages = try await scene.api.pages(of: "jobs", at: "/v1/jobs?\(query)", limit: 7)
                let seen = pages.flatMap { $0 }.compactMap { $0["id"].string }
                #expect(stays.isSubset(of: seen))
                #expect(seen == Set(seen).sorted(by: >))
            }
        }
        isOver.withLock { $0 = true }
        #expect(try await writers > 0)
    }

    @Test func combinesFilters() async throws {
        let (scene, ids) = try await queueing(20)
        let failed = try await scene.job(in: .failed)
        func list(_ query: String) async throws -> [String] {
            let pages = try await scene.api.pages(of: "jobs", at: "/v1/jobs?\(query)", limit: 3)
            return pages.flatMap { $0 }.compactMap { $0["id"].string }
        }
        #expect(try await list("state=queued") == ids.reversed())
        #expect(try await list("tag=all&state=queued&session=narrow") == ids.reversed())
        #expect(try await list("tag=fifth") == [15, 10, 5, 0].map { ids[$0] })
        #expect(try await list("state=failed") == [failed])
        #expect(try await list("session=default") == [failed])
        #expect(try await list("session=narrow").count == 21)
        for nothing in ["session=nowhere", "tag=fif", "tag=", "state=succeeded", "session=default&state=queued"] {
            #expect(try await list(nothing) == [], "\(nothing)")
        }
    }

    @Test func matchesDecodedTagExactly() async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit(scene.order().with(["tags": ["a b&c=d%ü"]]))
        let answer = try await scene.api.get("/v1/jobs?tag=a+b%26c%3Dd%25%C3%BC")
        #expect(answer.json["jobs"].arrayValue?.map { $0["id"] } == [.string(id)])
    }

    @Test(arguments: [
        "limit=0", "limit=1001", "limit=-1", "limit=1.5", "limit=", "state=done", "state=Queued", "session=no%20name",
        "cursor=%21", "cursor=YWJj", "limit=1&limit=2",
    ])
    func refusesInvalidListParameters(_ query: String) async throws {
        let scene = try await Scene()
        let answer = try await scene.api.get("/v1/jobs?\(query)")
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: "invalid-value"))
    }

    @Test func refusesUnknownListParameters() async throws {
        let scene = try await Scene()
        for path in ["/v1/jobs?stat=queued", "/v1/sessions?limit=1", "/v1/events?since=1"] {
            #expect(try await scene.api.get(path).problem == .init(kind: "unknown-field"))
        }
    }
}
