import Formats
import Foundation
import TestKit
import Testing

/// `/v1/consumers`, and `fetchd hooks`.
@Suite struct ConsumerTests {
    private func page(_ api: APIClient, _ query: String = "") async throws -> [Int64] {
        let page = try await api.get("/v1/consumers/index/events\(query)").json
        return page["events"].arrayValue?.compactMap { $0["id"].integer } ?? []
    }

    @Test func readsAndAcknowledgesEvents() async throws {
        let scene = try await Scene()
        let declared = try await scene.api.put("/v1/consumers/index", ["events": ["job.succeeded"], "from": 0])
        #expect(declared.status == 201 && declared.json["acknowledged_through"] == 0, "\(declared)")
        #expect(try await scene.api.put("/v1/consumers/index", ["events": ["job.succeeded"]]).status == 200)
        async let news = scene.api.get("/v1/consumers/index/events?wait=30")
        try await scene.untilWatched()
        let first = try await scene.job(in: .succeeded)
        let page = try await news.json
        #expect(page["events"].arrayValue?.map { $0["job"].string } == [first])
        let id = try #require(page["events"][0]["id"].integer)
        // A page after events that the reader has is what comes later.
        #expect(try await self.page(scene.api, "?after=\(id)&wait=1").isEmpty)
        let done = try await scene.api.post("/v1/consumers/index/acknowledge", ["events": [.integer(id)]])
        #expect(done.status == 200 && done.json["lag"] == ["events": 0, "oldest_at": nil], "\(done)")
        for (member, value) in [("events", [9999]), ("given_up", [9999]), ("through", 9999)] as [(String, JSON)] {
            let refused = try await scene.api.post("/v1/consumers/index/acknowledge", .object([member: value]))
            #expect(refused.status == 422 && refused.json["pointer"] == .string("/\(member)"))
        }
        #expect(try await self.page(scene.api).isEmpty)
        _ = try await scene.job(in: .succeeded)
        let listed = try await scene.api.get("/v1/consumers").json["consumers"]
        #expect(listed[0]["name"] == "index" && listed[0]["lag"]["events"] == 1)
        #expect(try await scene.api.get("/metrics").text.contains("fetchd_consumer_lag_events{consumer=\"index\"} 1\n"))
        #expect(try await scene.api.delete("/v1/consumers/index").status == 204)
        #expect(try await scene.api.get("/v1/consumers/index/events").status == 404)
        let audit = try await scene.api.get("/v1/audit").json["entries"].arrayValue ?? []
        #expect(audit.filter { $0["target"] == "index" }.count == 3)
    }

    @Test(
        arguments: [
            (["events": []], "/events"), (["events": ["none"]], "/events"), ([:], "/events"),
            (["events": ["job.*"], "session": "a/b"], "/session"), (["events": ["job.*"], "from": -1], "/from"),
            (["events": ["job.*"], "session": "none"], nil), (["events": ["job.*"], "from": 99], "/from"),
        ] as [(JSON, String?)])
    func refusesWrongDeclarations(_ body: JSON, _ pointer: String?) async throws {
        let scene = try await Scene()
        let answer = try await scene.api.put("/v1/consumers/index", body)
        #expect(answer.status == (body["session"] == "none" ? 404 : 422), "\(answer)")
        #expect(answer.json["pointer"].string == pointer)
        for body in [[:], ["events": [0]], ["events": ["1"]], ["through": -1]] as [JSON] {
            #expect(try await scene.api.post("/v1/consumers/index/acknowledge", body).status == 422)
        }
        #expect(try await scene.api.get("/v1/consumers").json["consumers"].count == 0)
    }

    @Test func runsACommandForEachEvent() async throws {
        let scene = try await CommandLineScene()
        let path = scene.folder.path
        try """
        #!/bin/sh
        cat > "\(path)/event.$FETCHD_EVENT"
        echo "$FETCHD_EVENT $FETCHD_JOB $FETCHD_FILE_LOCATION $FETCHD_PATH $1" >> "\(path)/ran"
        # The first try of each event.
        test -e "\(path)/tried.$FETCHD_EVENT" || { touch "\(path)/tried.$FETCHD_EVENT"; exit 75; }
        """.write(toFile: path + "/hook", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + "/hook")
        let job = try await scene.api.submit(["url": .string(scene.url("/file"))])
        try await scene.api.waitForJob(job, .succeeded)
        let runner = try await scene.start(
            "hooks", "run", "--name", "index", "--on", "job.succeeded", "--from", "0", "--downloads-dir", "downloads",
            "--location", "films=/mnt/films", "--",
            path + "/hook", "$(argument)")
        let consumer = try await eventually("the acknowledgement") {
            let consumer = try await scene.api.get("/v1/consumers").json["consumers"][0]
            return (consumer["acknowledged_through"].integer ?? 0) > 0 ? .some(consumer) : .none
        }
        #expect(consumer["lag"]["events"] == 0 && consumer["given_up"] == 0, "\(consumer)\n\(runner.errors)")
        let file = try #require(try await scene.api.job(job)["file"]["path"].string)
        let event = try #require(try await scene.api.events(of: job).last)
        let line = "\(event["id"].integer ?? 0) \(job) default \(path)/downloads/\(file) $(argument)"
        let ran = try String(contentsOfFile: path + "/ran", encoding: .utf8)
        #expect(ran == "\(line)\n\(line)\n")
        let document = try Data(contentsOf: URL(filePath: "\(path)/event.\(event["id"].integer ?? 0)"))
        #expect((try JSON(parsing: String(decoding: document, as: UTF8.self))) == event)
        runner.signal(SIGTERM)
        #expect(try await runner.waitForEnd() == .exited(143))
        #expect(runner.errors.contains("the command ended with 75; again in 1 s"), "\(runner.errors)")
        let listed = try await scene.run("hooks", "list")
        #expect(listed.output.contains("index"))
        #expect(try await scene.run("hooks", "delete", "index").succeeded)
    }

    @Test func givesUpAfterTheAttempts() async throws {
        let scene = try await CommandLineScene()
        let runner = try await scene.start(
            "hooks", "run", "--name", "index", "--on", "job.created", "--attempts", "1", "--json", "--", "false")
        _ = try await eventually("the consumer") {
            try await scene.api.get("/v1/consumers").json["consumers"].count == 1 ? true : nil
        }
        _ = try await scene.api.submit(["url": .string(scene.url("/file"))])
        _ = try await eventually("the end of the attempts") {
            try await scene.api.get("/v1/consumers").json["consumers"][0]["given_up"] == 1 ? true : nil
        }
        #expect(runner.output.contains("\"result\":\"given_up\""), "\(runner.output)")
        runner.signal(SIGINT)
        #expect(try await runner.waitForEnd() == .exited(130))
    }

    @Test func acknowledgesNothingIfThereIsNoSuchCommand() async throws {
        let scene = try await CommandLineScene()
        _ = try await scene.api.submit(["url": .string(scene.url("/file"))])
        let outcome = try await scene.run(
            "hooks", "run", "--name", "index", "--on", "job.*", "--from", "0", "--", "/none")
        #expect(outcome.ending == .exited(78) && outcome.errors.contains("/none cannot be started"), "\(outcome)")
        #expect(try await scene.api.get("/v1/consumers").json["consumers"][0]["acknowledged_through"] == 0)
        #expect(try await scene.run("hooks", "run", "--name", "index", "--on", "job.*").ending == .exited(64))
    }
}
