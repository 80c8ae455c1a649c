import Formats
import TestKit
import Testing

/// A client whose connection broke before the response cannot know whether its jobs exist. It repeats the request with
/// the same `Idempotency-Key` and gets the original response.
@Suite struct RepeatedRequestTests {
    private enum Route: String, CaseIterable, Sendable {
        case one = "/v1/jobs"
        case many = "/v1/jobs/batch"
    }

    private func body(_ scene: Scene, _ route: Route, _ path: String = "/file") -> JSON {
        switch route {
        case .one: scene.order(path)
        case .many: ["jobs": .array((0..<20).map { scene.order(path, ("tags", [.string("t\($0)")])) })]
        }
    }

    private func post(_ scene: Scene, _ route: Route, _ body: JSON, key: String?)
        async throws -> APIAnswer
    {
        try await scene.api.send("POST", route.rawValue, body, headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    /// The created jobs in the journal, which lists deleted ones too.
    private func created(_ scene: Scene) async throws -> [String] {
        try await scene.api.journal(of: "default", type: "job.created").compactMap { $0["job"].string }
    }

    private func identifiers(_ answer: APIAnswer) -> [String] {
        (answer.json["jobs"].arrayValue ?? [answer.json]).compactMap { $0["id"].string }
    }

    @Test func repeatsStoredResponseEvenWhenRequestIsNowInvalid() async throws {
        let scene = try await Scene(process: .init(arguments: ["--enable-rehearsals"]))
        let body: JSON = ["url": "rehearse:film.mkv"]
        let first = try await post(scene, .one, body, key: "key 1")
        #expect(first.status == 201)
        try await scene.process.kill()
        let other = try await FetchdProcess.start(in: scene.fetchd.folder)
        func again(_ key: String) async throws -> APIAnswer {
            try await other.api.send("POST", "/v1/jobs", body, headers: [("Idempotency-Key", key)])
        }
        #expect(try await again("key 2").status == 422)
        #expect(try await again("key 1").body == first.body)
    }

    @Test(.realProcess, arguments: Route.allCases)
    private func repeatsStoredResponseForSameIdempotencyKeyAfterKill(_ route: Route) async throws {
        let scene = try await Scene()
        let body = body(scene, route)
        let first = try await post(scene, route, body, key: "key 1")
        #expect(first.status == 201)
        let ids = identifiers(first)
        #expect(ids.count == (route == .one ? 1 : 20))
        #expect(first.header("Location") == (route == .one ? "jobs/\(ids[0])" : nil))
        for isKilled in [false, true] {
            // The jobs have changed by now; the stored response has not.
            for id in ids { try await scene.api.waitForJob(id, .succeeded) }
            if isKilled {
                try await scene.process.kill()
                try await scene.process.restart()
            }
            let again = try await post(scene, route, body, key: "key 1")
            #expect(again.status == 201)
            #expect(again.body == first.body)
            #expect(again.header("Location") == first.header("Location"))
            #expect(again.header("Content-Type") == first.header("Content-Type"))
            #expect(try await created(scene) == ids)
        }
        // Deleted jobs are not created again.
        for id in ids { #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204) }
        #expect(try await post(scene, route, body, key: "key 1").body == first.body)
        #expect(try await created(scene) == ids)
    }

    @Test(arguments: Route.allCases)
    private func answers422WhenIdempotencyKeyIsReusedWithAnotherBody(_ route: Route) async throws {
        let scene = try await Scene()
        let first = try await post(scene, route, body(scene, route), key: "k")
        let other = try await post(scene, route, body(scene, route, "/missing"), key: "k")
        #expect(other.status == 422)
        #expect(other.problem == .init(kind: "idempotency-key-reused"))
        #expect(try await created(scene) == identifiers(first))
        #expect(try await post(scene, route, body(scene, route), key: "k").body == first.body)
    }

    @Test func createsSeparateJobsForOtherKeysAndRoutes() async throws {
        let scene = try await Scene()
        let body = body(scene, .one)
        var ids: [String] = []
        for key in ["k", "K", nil, nil] { ids += identifiers(try await post(scene, .one, body, key: key)) }
        ids += identifiers(try await post(scene, .many, ["jobs": [body]], key: "k"))
        #expect(ids.count == 5)
        #expect(try await created(scene) == ids)
        #expect(Set(ids).count == 5)
    }

    @Test func forgetsIdempotencyKeyOfRefusedRequest() async throws {
        let scene = try await Scene()
        let order = scene.order("/file", ("session", "films"))
        #expect(try await post(scene, .one, order, key: "k").status == 422)
        try await scene.api.declareSession("films")
        let answer = try await post(scene, .one, order, key: "k")
        #expect(answer.status == 201)
        #expect(try await post(scene, .one, order, key: "k").body == answer.body)
        #expect(try await scene.api.journal(of: "films", type: "job.created").count == 1)
    }

    @Test(arguments: ["", String(repeating: "k", count: 256), "schl\u{FC}ssel"])
    func answers400WhenIdempotencyKeyIsInvalid(_ key: String) async throws {
        let scene = try await Scene()
        let answer = try await post(scene, .one, body(scene, .one), key: key)
        #expect(answer.status == 400)
        #expect(answer.problem == .init(kind: "malformed-request"))
        #expect(try await scene.isUntouched())
    }

    @Test(arguments: Route.allCases)
    private func createsJobsOnceForHundredConcurrentRequestsWithSameKey(_ route: Route) async throws {
        let scene = try await Scene()
        let body = body(scene, route)
        let answers = try await withThrowingTaskGroup(of: APIAnswer.self) { group in
            for _ in 0..<100 { group.addTask { try await post(scene, route, body, key: "k") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // A request that finds another in flight may be answered 409.
        #expect(answers.allSatisfy { [201, 409].contains($0.status) })
        let bodies = Set(answers.filter { $0.status == 201 }.map(\.body))
        #expect(bodies.count == 1)
        let first = try #require(answers.first { $0.status == 201 })
        #expect(identifiers(first).count == (route == .one ? 1 : 20))
        #expect(try await created(scene) == identifiers(first))
        #expect(try await post(scene, route, body, key: "k").body == first.body)
    }
}
