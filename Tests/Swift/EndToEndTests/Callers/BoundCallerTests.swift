import Formats
import Foundation
import TestKit
import Testing

/// For a token that is bound to sessions, nothing else exists.
@Suite struct BoundCallerTests {
    /// A service with the sessions `films-1` and `other`, and a job in each.
    private struct Stage {
        let scene: Scene
        let films: String
        let other: String

        var api: APIClient { scene.api }

        init() async throws {
            scene = try await Scene(.init(token: "first"))
            for session in ["films-1", "other"] { try await scene.api.declareSession(session) }
            films = try await scene.api.submit(scene.order("/file?signature=f", ("session", "films-1")))
            other = try await scene.api.submit(scene.order("/file?signature=o", ("session", "other")))
            for job in [films, other] { try await scene.api.waitForJob(job, .succeeded) }
        }

        func caller(_ scope: String) async throws -> APIClient { try await api.caller(scope, sessions: ["films*"]) }
    }

    private func jobs(_ client: APIClient, _ query: String = "") async throws -> [String] {
        try await client.get("/v1/jobs\(query)").json["jobs"].arrayValue?.compactMap { $0["id"].string } ?? []
    }

    @Test func listsHaveOnlyItsSessions() async throws {
        let stage = try await Stage()
        let client = try await stage.caller("read")
        // In both orders: a kept page of one caller is never that of another.
        for _ in 0..<2 {
            #expect(try await jobs(client) == [stage.films])
            #expect(try await jobs(stage.api) == [stage.other, stage.films])
            #expect(try await jobs(client, "?session=other").isEmpty)
            #expect(try await jobs(client, "?state=succeeded") == [stage.films])
        }
        let sessions = try await client.get("/v1/sessions").json["sessions"].arrayValue ?? []
        #expect(sessions.compactMap { $0["id"].string } == ["films-1"])
        let events = try await client.events()
        #expect(!events.isEmpty && events.allSatisfy { $0["session"] == "films-1" })
        #expect(try await client.events(of: stage.other).isEmpty)
        #expect(try await client.get("/v1/jobs/\(stage.films)/file").status == 200)
    }

    @Test func theListOfAllWebhooksHasThoseOfItsSessions() async throws {
        let stage = try await Stage()
        for (session, names) in [("films-1", ["b", "a"]), ("other", ["c"])] {
            for name in names {
                let answer = try await stage.api.put(
                    "/v1/sessions/\(session)/webhooks/\(name)", ["url": "https://192.0.2.1/secret?key=1"])
                #expect(answer.status == 201)
            }
        }
        func listed(_ client: APIClient, _ query: String = "") async throws -> ([String], cursor: String?) {
            let answer = try await client.get("/v1/webhooks" + query)
            #expect(
                answer.status == 200 && !answer.text.contains("whsec_") && !answer.text.contains("key=1"), "\(answer)")
            let names = answer.json["webhooks"].arrayValue?.map {
                "\($0["session"].string ?? "")/\($0["name"].string ?? "")"
            }
            return (names ?? [], answer.json["next_cursor"].string)
        }
        #expect(try await listed(stage.api).0 == ["films-1/a", "films-1/b", "other/c"])
        #expect(try await listed(stage.caller("read")).0 == ["films-1/a", "films-1/b"])
        var (names, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try await listed(stage.api, "?limit=1" + (cursor.map { "&cursor=\($0)" } ?? ""))
            names += page.0
            cursor = page.cursor
        } while cursor != nil
        #expect(names == ["films-1/a", "films-1/b", "other/c"])
        for query in ["limit=0", "limit=1001", "cursor=none", "session=other"] {
            #expect(try await stage.api.get("/v1/webhooks?" + query).status == 422)
        }
    }

    @Test func actsOnItsJobsOnly() async throws {
        let stage = try await Stage()
        let members: [(action: String, JSONObject)] = [
            ("pause", [:]), ("resume", [:]), ("cancel", [:]), ("retry", [:]), ("move", ["to": "top"]),
            ("change", ["patch": ["priority": "high"]]),
        ]
        let before = try await stage.api.job(stage.other)
        for (action, members) in members {
            var body = members
            body["all"] = true
            #expect(try await stage.caller("read").post("/v1/jobs/\(action)", .object(body)).status == 403)
            #expect(try await stage.caller("jobs").post("/v1/jobs/\(action)", .object(body)).json["matched"] == 1)
        }
        #expect(try await stage.api.job(stage.other) == before)
    }

    @Test func removesOnlyItsJobs() async throws {
        let stage = try await Stage()
        #expect(try await stage.caller("read").post("/v1/jobs/remove", ["all": true]).status == 403)
        let client = try await stage.caller("jobs")
        let byID = try await client.post("/v1/jobs/remove", ["ids": [.string(stage.other)]])
        #expect(byID.json["matched"] == 0 && byID.json["problems"][0]["code"] == "not-found", "\(byID)")
        #expect(try await client.post("/v1/jobs/remove", ["filter": ["session": "other"]]).json["matched"] == 0)
        #expect(try await client.post("/v1/jobs/remove", ["all": true]).json["changed"] == 1)
        #expect(try await jobs(stage.api) == [stage.other])
    }

    @Test func pollsAndWaitsOfOthersFindNothing() async throws {
        let stage = try await Stage()
        let client = try await stage.caller("read")
        for headers in [[], [("Prefer", "wait=5")]] as [[(name: String, value: String)]] {
            // The first request of the owner fills the caches.
            #expect(try await stage.api.get("/v1/jobs/\(stage.other)", headers: headers).status == 200)
            #expect(try await client.get("/v1/jobs/\(stage.other)", headers: headers).status == 404)
        }
        // A wait for events of jobs ends without those of others.
        let last = try #require(try await stage.api.get("/v1/stats").json["last_event"].integer)
        async let waited = client.get("/v1/events?after=\(last)&wait=2&type=job.*")
        _ = try await stage.api.submit(stage.scene.order("/file", ("session", "other")))
        #expect(try await waited.json["events"].count == 0)
    }

    @Test func streamHasOnlyItsSessions() async throws {
        let stage = try await Stage()
        let token = try await stage.api.createToken("read", sessions: ["films*"])["token"].string
        let listener = try EventListener(to: stage.scene.fetchd.port, token: token)
        try await listener.wait(for: "the stream") { !$0.positions.isEmpty }
        // Progress of a running job, events, and then an event of the caller's session.
        let held = try await stage.api.submit(stage.scene.order("/held", ("session", "other")))
        try await stage.api.waitForBytes(held)
        stage.scene.gate.open()
        try await stage.api.waitForJob(held, .succeeded)
        let mine = try await stage.api.submit(stage.scene.order("/file", ("session", "films-1")))
        try await listener.wait(for: "the end of the job") { state in
            state.messages.contains { $0.type == "job.succeeded" }
        }
        for message in listener.messages {
            #expect(message.data["session"] == "films-1", "\(message)")
            #expect([.string(mine), .null].contains(message.data["job"]), "\(message)")
        }
    }

    @Test func replayedStreamHasOnlyItsSessions() async throws {
        let stage = try await Stage()
        let token = try await stage.api.createToken("read", sessions: ["films*"])["token"].string
        let listener = try EventListener(to: stage.scene.fetchd.port, "after=0", token: token)
        let state = try await listener.wait(for: "the end of the job") { state in
            state.messages.contains { $0.type == "job.succeeded" }
        }
        #expect(state.messages.allSatisfy { $0.data["session"] == "films-1" })
    }

    @Test func createsNothingElsewhere() async throws {
        let stage = try await Stage()
        let client = try await stage.caller("sessions")
        for session in ["other", "unknown", nil] {
            var order: JSONObject = ["url": .string(stage.scene.origin.url("/file"))]
            if let session { order["session"] = .string(session) }
            let answer = try await client.post("/v1/jobs", .object(order))
            #expect(answer.status == 403)
            #expect(answer.problem == .init(kind: "forbidden", pointer: "/session"))
            let batch = try await client.post(
                "/v1/jobs/batch", ["jobs": [stage.scene.order("/file", ("session", "films-1")), .object(order)]])
            #expect(batch.problem == .init(kind: "forbidden", pointer: "/jobs/1/session"))
        }
        for session in ["other", "unknown"] {
            #expect(try await client.put("/v1/sessions/\(session)").problem?.kind == "forbidden")
        }
        #expect(try await client.put("/v1/sessions/films-2").status == 201)
        #expect(try await client.post("/v1/jobs", stage.scene.order("/file", ("session", "films-2"))).status == 201)
        #expect(try await jobs(stage.api).count == 3)
    }

    @Test func foreignJobGivesNoPart() async throws {
        let stage = try await Stage()
        let donor = try await stage.scene.job(in: .paused)
        let client = try await stage.caller("jobs")
        func refusal(_ donor: String) async throws -> APIAnswer {
            let order = stage.scene.order("/held", ("session", "films-1"), ("resume_from", .string(donor)))
            return try await client.post("/v1/jobs", order)
        }
        let unknown = "job_01HZX3K9V7Q2N4R8T6W0YB5CDE"
        let (foreign, missing) = (try await refusal(donor), try await refusal(unknown))
        #expect(foreign.status == 409)
        #expect(foreign.text == missing.text.replacing(unknown, with: donor))
        #expect(try await stage.api.get("/v1/jobs/\(donor)/resume-data").status == 200)
        stage.scene.gate.open()
    }

    @Test func idempotencyKeysBelongToTheCaller() async throws {
        let stage = try await Stage()
        let order = stage.scene.order("/file", ("session", "films-1"))
        func submit(_ client: APIClient) async throws -> String? {
            try await client.send("POST", "/v1/jobs", order, headers: [("Idempotency-Key", "k")]).json["id"].string
        }
        let clients = [stage.api, try await stage.caller("jobs"), try await stage.caller("jobs")]
        var ids: [String?] = []
        for client in clients { ids.append(try await submit(client)) }
        #expect(Set(ids).count == 3 && !ids.contains(nil))
        for (client, id) in zip(clients, ids) { #expect(try await submit(client) == id) }
    }
}
