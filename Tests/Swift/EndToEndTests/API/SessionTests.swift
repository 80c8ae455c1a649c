import Formats
import TestKit
import Testing

/// `/v1/sessions`.
@Suite struct SessionTests {
    @Test func listsDefaultSessionFromTheStart() async throws {
        let scene = try await Scene()
        let sessions = try await scene.api.get("/v1/sessions").json["sessions"]
        #expect(sessions.count == 1)
        #expect(sessions[0]["id"] == "default")
        #expect(sessions[0]["state"] == "idle")
        #expect(sessions[0]["batch"] == 0)
    }

    @Test(.realProcess) func declaresAndReattachesSessionAndKeepsConfigurationAfterKill() async throws {
        let scene = try await Scene()
        let new = try await scene.api.put("/v1/sessions/photos", ["max_concurrent_jobs": 2, "directory": "photos"])
        #expect(new.status == 201)
        #expect(new.json["configuration"]["max_concurrent_jobs"] == 2)
        // A declaration without a body changes nothing; one with a body replaces the configuration.
        let same = try await scene.api.put("/v1/sessions/photos")
        #expect(same.status == 200)
        #expect(same.json["configuration"] == new.json["configuration"])
        let replaced = try await scene.api.put("/v1/sessions/photos", ["directory": "albums"])
        #expect(replaced.status == 200)
        #expect(replaced.json["configuration"]["max_concurrent_jobs"] == nil)
        #expect(replaced.json["configuration"]["directory"] == "albums")
        #expect(try await scene.api.session("photos") == replaced.json)
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await scene.api.session("photos") == replaced.json)
    }

    @Test func keepsEveryConfigurationFieldAndRedactsSecrets() async throws {
        let scene = try await Scene()
        let configuration: JSON = [
            "headers": ["X-Album": "12", "Cookie": "id=1"], "user_agent": "album/1.0",
            "timeouts": ["request_seconds": 20, "connect_seconds": 5.5, "resource_seconds": 3600],
            "max_concurrent_jobs": 2,
            "max_connections_per_host": 1,
            "hosts": [["host": "*.example.com", "requests_per_second": 0.5, "pause_statuses": [403]]],
            "retry": ["max_attempts": 3, "base_seconds": 0.5, "max_seconds": 10],
            "destination": ["location": "default"], "directory": "photos", "on_conflict": "replace", "digest": "none",
            "decode": true,
            "resume_policy": "evidence",
            "priority": "low",
            "finish_delay_seconds": 0, "acknowledgement": "none", "metadata": ["owner": "camera-7"],
            "wait_for": ["space"], "connections": 1,
            "resume_data_ttl_seconds": 604_800, "minimum_bytes_per_second": nil, "rate_limit_bytes_per_second": nil,
            "max_total_size": 500_000,
            "tls": ["ca_file": nil, "pinned_public_keys": [:], "verify": true], "proxy": nil,
        ]
        let shown = try await scene.api.put("/v1/sessions/photos", configuration).json["configuration"]
        for name in shown.names where name != "headers" { #expect(shown[name] == configuration[name], "\(name)") }
        // Headers that look like credentials are not shown.
        #expect(shown["headers"] == ["X-Album": "12", "Cookie": "[secret]"])

        let id = try await scene.api.submit(scene.order("/file", ("session", "photos")))
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["priority"] == "low")
        #expect(job["file"]["path"] == "photos/file")
        #expect(job["file"]["sha256"] == nil)
        let request = try #require(scene.origin.requests(to: "/file").first)
        #expect(request.header("User-Agent") == "album/1.0")
        #expect(request.header("Cookie") == "id=1")
    }

    @Test func answers422WithPointerForInvalidConfigurationAndStoresNothing() async throws {
        let scene = try await Scene()
        for refusal in Refusal.session {
            let answer = try await scene.api.put("/v1/sessions/photos", .object(refusal.members))
            #expect(answer.status == 422, "\(refusal.members)")
            #expect(answer.problem == refusal.problem, "\(answer)")
        }
        #expect(try await scene.api.put("/v1/sessions/photos", []).problem == .init(kind: "invalid-value", pointer: ""))
        let malformed = try await scene.api.send("PUT", "/v1/sessions/photos", bytes: Array("{".utf8))
        #expect(malformed.problem == .init(kind: "malformed-json"))
        #expect(try await scene.api.get("/v1/sessions/photos").status == 404)
        #expect(try await scene.api.get("/v1/sessions").json["sessions"].count == 1)
    }

    @Test(arguments: ["no%20name", "..", "a%2Fb", "%C3%BC", String(repeating: "a", count: 129)])
    func answers404ForInvalidSessionName(_ name: String) async throws {
        let scene = try await Scene()
        for answer in [
            try await scene.api.send("PUT", "/v1/sessions/\(name)", nil),
            try await scene.api.post("/v1/sessions/\(name)/pause"),
        ] {
            #expect(answer.status == 404)
            #expect(answer.problem == .init(kind: "not-found"))
        }
    }

    @Test func showsStateCountsAndProgressOfSession() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos", ["finish_delay_seconds": 0, "acknowledgement": "expected"])
        let running = try await scene.api.submit(scene.order("/held", ("session", "photos")))
        let failing = try await scene.api.submit(scene.order("/missing", ("session", "photos")))
        try await scene.api.waitForBytes(running, atLeast: 100_000)
        try await scene.api.waitForJob(failing, .failed)
        let active = try await scene.api.session("photos")
        #expect(active["state"] == "active")
        #expect(active["batch"] == 1)
        #expect(
            active["counts"] == [
                "queued": 0, "running": 1, "waiting": 0, "paused": 0, "succeeded": 0, "failed": 1, "cancelled": 0,
            ])
        scene.gate.open()
        try await scene.api.waitForJob(running, .succeeded)
        let idle = try await eventually("the session's finish") {
            let session = try await scene.api.session("photos")
            return session["unacknowledged_since"] == nil ? JSON?.none : session
        }
        #expect(idle["state"] == "idle")
        #expect(idle["progress"] == ["bytes_received": 200_000, "bytes_expected": 200_000])
        let finish = try #require(try await scene.api.events().last)
        #expect(finish["type"] == "session.finished")
        #expect(idle["last_event"] == finish["id"])
        #expect(finish["data"]["outcome"] == "partly_failed")
        #expect(finish["data"]["failures"][0]["job"] == .string(failing))
    }

    // MARK: Changes

    private func patch(
        _ scene: Scene, _ body: JSON, _ name: String = "photos", headers: [(name: String, value: String)] = []
    ) async throws -> APIAnswer {
        try await scene.api.send("PATCH", "/v1/sessions/\(name)", body, headers: headers)
    }

    @Test(.realProcess) func changesAPartOfTheConfigurationAndKeepsTheRestAfterKill() async throws {
        let scene = try await Scene()
        let configuration: JSON = [
            "directory": "photos", "proxy": "http://me:pw@127.0.0.1:3128",
            "headers": ["Cookie": "id=1", "X-Album": "12"],
            "retry": ["max_attempts": 3], "rate_limit_bytes_per_second": 50_000_000,
        ]
        let before = try await scene.api.put("/v1/sessions/photos", configuration).json
        let merge = [(name: "Content-Type", value: "application/merge-patch+json")]
        let changed = try await patch(
            scene, ["max_concurrent_jobs": 2, "headers": ["X-Album": nil], "directory": nil], headers: merge)
        #expect(changed.status == 200)
        var expected = before["configuration"].objectValue ?? [:]
        (expected["max_concurrent_jobs"], expected["directory"]) = (2, "")
        expected["headers"] = ["Cookie": "[secret]"]
        #expect(changed.json["configuration"] == .object(expected))
        #expect(try await patch(scene, ["headers": ["Cookie": "[secret]"]]).json["configuration"] == .object(expected))
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await scene.api.session("photos")["configuration"] == .object(expected))
        // The header still has its value.
        #expect(try await patch(scene, ["proxy": nil]).status == 200)
        let id = try await scene.api.submit(scene.order("/file", ("session", "photos")))
        try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.origin.requests(to: "/file").first?.header("Cookie") == "id=1")
    }

    @Test func refusesChangesThatADeclarationRefuses() async throws {
        let scene = try await Scene()
        #expect(try await patch(scene, ["directory": "a"]).problem == .init(kind: "not-found"))
        #expect(try await scene.api.get("/v1/sessions/photos").status == 404)
        let before = try await scene.api.put("/v1/sessions/photos", ["directory": "photos"])
        for refusal in Refusal.session {
            let answer = try await patch(scene, .object(refusal.members))
            #expect(answer.status == 422 && answer.problem == refusal.problem, "\(answer)")
        }
        #expect(try await patch(scene, []).problem == .init(kind: "invalid-value", pointer: ""))
        #expect(try await scene.api.send("PATCH", "/v1/sessions/photos").status == 400)
        let placeholder = try await patch(scene, ["headers": ["Cookie": "[secret]"]])
        #expect(placeholder.problem == .init(kind: "invalid-value", pointer: "/headers/Cookie"))
        #expect(try await scene.api.session("photos") == before.json)
        #expect(try await scene.api.get("/v1/sessions/photos").header("ETag") == before.header("ETag"))
    }

    @Test func aTagHoldsUntilTheConfigurationChanges() async throws {
        let scene = try await Scene()
        let first = try #require(try await scene.api.put("/v1/sessions/photos").header("ETag"))
        let path = "/v1/sessions/photos"
        // Jobs change the tag, but not the part that If-Match compares.
        let job = try await scene.api.submit(scene.order("/file", ("session", "photos")))
        try await scene.api.waitForJob(job, .succeeded)
        let later = try #require(try await scene.api.get(path).header("ETag"))
        #expect(later != first && later.prefix { $0 != "." } == first.prefix { $0 != "." })
        func send(_ method: String, _ tag: String, _ body: JSON? = ["directory": "a"]) async throws -> APIAnswer {
            try await scene.api.send(method, path, body, headers: [("If-Match", tag)])
        }
        let changed = try await send("PATCH", first)
        let second = try #require(changed.header("ETag"))
        #expect(changed.status == 200 && second.prefix { $0 != "." } != first.prefix { $0 != "." })
        for method in ["PUT", "PATCH"] {
            for tag in [first, later, "\"0\"", "x"] {
                let answer = try await send(method, tag, ["directory": "b"])
                #expect(answer.status == 412 && answer.problem == .init(kind: "precondition-failed"), "\(tag)")
            }
        }
        #expect(try await send("PUT", first, nil).status == 412)
        #expect(try await scene.api.session("photos")["configuration"]["directory"] == "a")
        #expect(try await send("PUT", second, ["directory": "b"]).status == 200)
        #expect(try await send("PATCH", "*").status == 200)
        // A session that does not exist matches nothing.
        let missing = try await scene.api.send("PUT", "/v1/sessions/new", [:], headers: [("If-Match", "*")])
        #expect(missing.problem == .init(kind: "precondition-failed"))
        #expect(try await patch(scene, [:], "new", headers: [("If-Match", "*")]).status == 404)
    }

    @Test func changesThatArriveTogetherAreAllMade() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos", ["directory": "photos"])
        let api = scene.api
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let body: JSON = ["metadata": ["n\(number)": .count(number)]]
                    let answer = try await api.send("PATCH", "/v1/sessions/photos", body)
                    #expect(answer.status == 200)
                }
            }
            try await group.waitForAll()
        }
        let configuration = try await scene.api.session("photos")["configuration"]
        #expect(configuration["metadata"].names.count == 20 && configuration["directory"] == "photos")
    }
}
