import Formats
import TestKit
import Testing

/// `pause`, `resume`, `cancel`, `retry`, `update`, `delete`, and the session commands.
@Suite struct JobCommandTests {
    @Test func pausesCancelsRetriesResumesAndDeletesJob() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .running)
        #expect(try await cli.run("pause", id).output == "\(id) paused\n")
        let cancelled = try await cli.run("cancel", "--keep-bytes", id, "--json")
        #expect(cancelled.json["state"] == "cancelled" && cancelled.json["progress"]["bytes_durable"] == 100_000)
        cli.scene.gate.open()
        #expect(try await cli.run("retry", id).output == "\(id) queued\n")
        try await cli.api.waitForJob(id, .succeeded)
        let later = cli.scene.order("/file", ("not_before", "2999-01-01T00:00:00Z"))
        let other = try await cli.api.submit(later)
        #expect(try await cli.run("pause", other).succeeded)
        #expect(try await cli.run("resume", "--json", other).json["state"] == "queued")
        #expect(try await cli.run("delete", "--with-file", id).output == "\(id) deleted\n")
        #expect(cli.fetchd.downloaded("held") == nil)
        #expect(try await cli.api.get("/v1/jobs/\(id)").status == 404)
    }

    /// One refused job does not stop the others; the command's exit status is that of the refusal.
    @Test func actsOnOtherJobsWhenOneRefusesAndExitsWithItsStatus() async throws {
        let cli = try await CommandLineScene()
        let done = try await cli.scene.job(in: .succeeded)
        let running = try await cli.scene.job(in: .running)
        let outcome = try await cli.run("pause", done, "job_none", running)
        #expect(outcome.ending == .exited(75) && outcome.output == "\(running) paused\n", "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 2)
        let json = try await cli.run("resume", "--json", running, done)
        #expect(json.ending == .exited(75) && json.json["jobs"].count == 1 && json.errorJSON["status"] == 409)
        let deleted = try await cli.run("delete", "--json", "job_none", done)
        #expect(deleted.ending == .exited(66) && deleted.json.written == "{\"deleted\":[\"\(done)\"]}")
    }

    @Test func actsOnAllJobsOfSession() async throws {
        let cli = try await CommandLineScene()
        try await cli.api.declareSession("photos")
        for _ in 0..<3 { try await cli.api.submit(cli.scene.order("/held", ("session", "photos"))) }
        let other = try await cli.scene.job(in: .running)
        let paused = try await cli.run("pause", "--session", "photos")
        #expect(paused.output == "photos: 3 paused\n", "\(paused)")
        #expect(try await cli.api.job(other)["state"] == "running")
        #expect(try await cli.run("session", "resume", "photos", "--json").json["counts"]["paused"] == 0)
        #expect(try await cli.run("cancel", "--all", "--json").json["sessions"].count == 2)
        #expect(try await cli.run("session", "delete", "photos").succeeded)
        _ = try await eventually("the end of the session") {
            try await cli.api.get("/v1/sessions/photos").status == 404 ? true : nil
        }
        // The result is a list also for one session.
        #expect(try await cli.run("resume", "--all", "--json").json["sessions"].count == 1)
        #expect(try await cli.api.job(other)["state"] == "cancelled")
        // `retry` restarts failed jobs, not cancelled ones.
        #expect(try await cli.run("retry", "--all").errors.contains("No job has failed"))
        // Sessions without outstanding jobs get no line.
        let nothing = try await cli.run("pause", "--all")
        #expect(nothing.succeeded && nothing.output.isEmpty && nothing.errors.contains("No job is outstanding"))
        cli.scene.gate.open()
        let failed = try await cli.scene.job(in: .failed)
        #expect(try await cli.run("retry", "--session", "default").output == "\(failed) queued\n")
        try await cli.api.waitForJob(failed, .failed)
        #expect(try await cli.run("retry", "--all", "--state", "failed", "--json").json["jobs"].count == 1)
        #expect(try await cli.run("retry", "--state", "cancelled", failed).ending == .exited(64))
        for arguments in [[], ["--all", other], ["--session", "photos", "--all"]] {
            let outcome = try await FetchdProcess.run(["pause"] + arguments, environment: cli.environment)
            #expect(outcome.ending == .exited(64), "\(arguments)")
        }
    }

    @Test func deletesByStateAndAge() async throws {
        let cli = try await CommandLineScene()
        try await cli.api.declareSession("photos")
        for session in ["default", "photos"] {
            let id = try await cli.api.submit(cli.scene.order("/file", ("session", .string(session))))
            try await cli.api.waitForJob(id, .succeeded)
        }
        let paused = try await cli.scene.job(in: .paused)
        let none = try await cli.run("delete", "--state", "succeeded", "--older-than", "7d")
        #expect(none.succeeded && none.errors.contains("Nothing was deleted"), "\(none)")
        let one = try await cli.run("delete", "--state", "succeeded", "--session", "photos", "--files")
        #expect(one.output == "1 job deleted\n" && cli.fetchd.downloaded("file (1)") == nil, "\(one)")
        let now = try await cli.run("delete", "--older-than", "2999-01-01T00:00:00Z", "--json")
        #expect(now.json == ["matched": 1, "changed": 1, "refused": 0, "problems": []], "\(now)")
        #expect(cli.fetchd.downloaded("file") == cli.scene.bytes)
        #expect(try await cli.api.get("/v1/jobs").json["jobs"].arrayValue?.map { $0["id"].string } == [paused])
        #expect(try await cli.run("delete", "--all", "--session", "photos").errors.contains("No job matches"))
        for arguments in [
            [], ["--session", "photos"], ["--all", paused], ["--state", "failed", paused],
            ["--all", "--state", "failed"],
        ] {
            let outcome = try await FetchdProcess.run(["delete"] + arguments, environment: cli.environment)
            #expect(outcome.ending == .exited(64) && outcome.errors.contains("--older-than, or both"), "\(outcome)")
        }
        #expect(try await cli.run("delete", "--all").output == "1 job deleted\n")
    }

    @Test func updatesJobWithEveryOption() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.api.submit(cli.scene.order("/missing", ("rate_limit_bytes_per_second", 1000)))
        try await cli.api.waitForJob(id, .failed)
        #expect(try await cli.run("update", id).ending == .exited(64))
        try cli.folder.write("token\n", to: "bearer")
        let updated = try await cli.run(
            "update", id, "--from", cli.url("/file"), "--out", "videos/other.mkv", "--on-conflict", "replace", "-H",
            "X-Who: ada", "--bearer-file", "bearer", "--priority", "low", "--connections", "2", "--rate-limit", "none",
            "--deadline", "2999-01-01T00:00:00Z", "--json")
        #expect(
            updated.json["priority"] == "low" && updated.json["deadline"] == "2999-01-01T00:00:00.000Z", "\(updated)")
        #expect(try await cli.run("retry", id).succeeded)
        let job = try await cli.api.waitForJob(id, .succeeded)
        #expect(job["file"]["path"] == "videos/other.mkv")
        let request = try #require(cli.scene.origin.requests(to: "/file").first)
        #expect(request.header("X-Who") == "ada" && request.header("Authorization") == "Bearer token")
        #expect(try await cli.run("update", id, "--user", "ada").ending == .exited(64))
    }

    @Test func declaresListsShowsAcknowledgesAndDeletesSessions() async throws {
        let cli = try await CommandLineScene()
        try cli.folder.write(
            #"{"directory": "a", "metadata": {"shelf": 7}, "connections": 3, "acknowledgement": "expected"}"#,
            to: "photos.json")
        let set = try await cli.run(
            "session", "set", "photos", "--configuration", "photos.json", "--directory", "b", "--max-concurrent-jobs",
            "2", "--rate-limit", "2Mi", "--priority", "high", "--on-conflict", "error", "--wait-for", "url", "--json")
        let configuration = set.json["configuration"]
        #expect(configuration["directory"] == "b" && configuration["metadata"]["shelf"] == 7, "\(set)")
        #expect(configuration["connections"] == 3 && configuration["max_concurrent_jobs"] == 2)
        #expect(configuration["rate_limit_bytes_per_second"] == 2_097_152 && configuration["priority"] == "high")
        // Settings that are not given stay.
        let changed = try await cli.run("session", "set", "photos", "--connections", "4", "--json")
        #expect(changed.json["configuration"]["directory"] == "b" && changed.json["configuration"]["connections"] == 4)
        try cli.folder.write(#"{"connections": 3, "priority": null}"#, to: "photos.json")
        let restored = try await cli.run(
            "session", "set", "photos", "--configuration", "photos.json", "--priority", "high", "--json")
        #expect(restored.json["configuration"] == configuration)
        for (word, value) in [("derived", JSON.null), ("none", "none"), ("expected", "expected")] {
            let set = try await cli.run("session", "set", "photos", "--acknowledgement", word, "--json")
            #expect(set.json["configuration"]["acknowledgement"] == value)
        }
        // Declaring without options changes nothing.
        #expect(try await cli.run("session", "set", "photos", "--json").json["configuration"] == configuration)
        #expect(try await cli.run("session", "list", "-q").lines == ["default", "photos"])
        #expect(try await cli.run("session", "list").lines.count == 3)
        #expect(try await cli.run("session", "list", "--json").json == (try await cli.api.get("/v1/sessions").json))
        #expect(try await cli.run("session", "show", "photos").output.contains("2.0 MiB/s"))
        let id = try await cli.api.submit(cli.scene.order("/file", ("session", "photos")))
        try await cli.api.waitForJob(id, .succeeded)
        _ = try await eventually("the finish") {
            try await cli.api.session("photos")["unacknowledged_since"] == .null ? nil : true
        }
        let taken = try await cli.run("session", "acknowledge", "photos", "--json")
        #expect(taken.json["unacknowledged_since"] == .null && taken.json["acknowledged_through"] != 0)
        #expect(try await cli.run("session", "show", "photos").output.contains("session acknowledge, through event"))
        #expect(try await !cli.run("session", "show", "default").output.contains("acknowledged"))
        #expect(try await cli.run("session", "delete", "photos").output == "photos deleted\n")
        #expect(try await cli.run("session", "set", "x", "--configuration", "/dev/null").ending == .exited(65))
    }
}
