import TestKit
import Testing

/// `list`, `show`, `stats`.
@Suite struct ListingTests {
    @Test func printsServiceDocumentsAsJSON() async throws {
        let cli = try await CommandLineScene()
        let done = try await cli.scene.job(in: .succeeded)
        let failed = try await cli.scene.job(in: .failed)
        #expect(try await cli.run("list", "--json").json == (try await cli.api.get("/v1/jobs").json))
        #expect(try await cli.run("list", "--json", "--state", "failed").json["jobs"][0]["id"].string == failed)
        let limited = try await cli.run("list", "--json", "--limit", "1")
        #expect(limited.json == (try await cli.api.get("/v1/jobs?limit=1").json) && limited.json["jobs"].count == 1)
        #expect(try await cli.run("show", "--json", done).json == (try await cli.api.job(done)))
        #expect(try await cli.run("show", "--json", done, failed).json["jobs"].count == 2)
        #expect(try await cli.run("stats", "--json").json["jobs"]["failed"] == 1)
        #expect(try await cli.run("list", "--quiet").lines == [failed, done])
        #expect(try await cli.run("list", "--tag", "none", "--json").json["jobs"].count == 0)
    }

    @Test func printsTablesForPeople() async throws {
        let cli = try await CommandLineScene()
        let empty = try await cli.run("list")
        #expect(empty.succeeded && empty.output.isEmpty && empty.errors.contains("fetchd add URL"))
        let done = try await cli.scene.job(in: .succeeded)
        let failed = try await cli.scene.job(in: .failed)
        let list = try await cli.run("list")
        #expect(list.lines.count == 3 && list.lines[0].hasPrefix("ID "))
        #expect(list.lines[1].hasPrefix("\(failed)  failed: bad_status 404 "))
        #expect(list.lines[2].hasPrefix("\(done)  succeeded ") && list.lines[2].contains("  100%  "))
        let show = try await cli.run("show", failed)
        #expect(show.output.contains("failed: bad_status: The server answered 404. (HTTP status 404)"))
        #expect(show.output.contains("fetchd retry \(failed)"))
        #expect(try await cli.run("show", done).output.contains(SHA.hexadecimal(of: cli.scene.bytes)))
        #expect(try await cli.run("stats").output.contains("1 succeeded, 1 failed"))
        let partly = try await cli.run("show", "job_none", done)
        #expect(partly.ending == .exited(66) && partly.output.contains(done), "\(partly)")
        #expect(try await cli.run("list", "-l1", "-q").lines == [failed])
    }

    @Test func saysWhatAQueuedJobWaitsFor() async throws {
        let cli = try await CommandLineScene()
        try await cli.api.declareSession("held", ["max_concurrent_jobs": 1])
        let held = try await cli.api.submit(cli.scene.order("/held", ("session", "held")))
        try await cli.api.waitForBytes(held)
        let ids = try await cli.api.submit(
            all: (0..<2).map { cli.scene.order("/held?\($0)", ("session", "held")) })
        #expect(try await cli.run("list").lines[1].hasPrefix("\(ids[1])  queued: session_limit "))
        let show = try await cli.run("show", ids[1])
        #expect(show.output.contains("queued: session_limit\n"))
        #expect(show.output.contains("1 queued job of the session\n"))
    }

    @Test func listsAllPagesAsOneList() async throws {
        let cli = try await CommandLineScene()
        try await cli.api.declareSession("held", ["max_concurrent_jobs": 1])
        let order = cli.scene.order("/held", ("session", "held"))
        let batch = try await cli.api.post("/v1/jobs/batch", ["jobs": .array(Array(repeating: order, count: 1500))])
        #expect(batch.status == 201)
        let list = try await cli.run("list", "--json", "--session", "held")
        #expect(list.json["jobs"].count == 1500 && list.json["next_cursor"] == .null)
        #expect(try await cli.run("list", "--quiet", "--limit", "1200").lines.count == 1200)
    }

    /// The reader closes the pipe: the command ends by SIGPIPE, without a message.
    @Test func endsBySIGPIPESilentlyWhenPipeIsClosed() async throws {
        let cli = try await CommandLineScene()
        let order = cli.scene.order("/held")
        _ = try await cli.api.post("/v1/jobs/batch", ["jobs": .array(Array(repeating: order, count: 2000))])
        let outcome = try await cli.shell("fetchd list --json | head -c 1; echo \" ${PIPESTATUS[0]}\"")
        #expect(outcome.output == "{ 141\n" && outcome.errors.isEmpty, "\(outcome)")
    }

    /// The name has escape sequences that would clear the screen.
    @Test func escapesControlCharactersInNames() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.api.submit(cli.scene.order("/file%1B%5B2J%0Anext"))
        try await cli.api.waitForJob(id, .failed)
        let list = try await cli.run("list")
        #expect(list.lines.count == 2 && !list.output.contains("\u{1B}"), "\(list.output)")
    }
}
