import Formats
import Foundation
import Glibc
import TestKit
import Testing

/// Waits that are interrupted, time out or lose the service: the command reports what it knows and ends.
@Suite struct EndlessWaitTests {
    /// A reverse proxy answers 502 while the service is down; its answers are no problem documents.
    @Test func waitsThroughGatewayErrorsOnceServiceWasSeen() async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let id = try await cli.scene.job(in: .succeeded)
        let away = OriginBehaviour.answering(502, body: Array("<html>Bad Gateway</html>".utf8))
        try await serve(id, of: cli, at: front, (away.once, away.first(2), away.once))
        let saved = try await cli.run(
            "add", "--save", "copy", cli.url("/file"), environment: ["FETCHD_URL": front.url("")])
        #expect(saved.succeeded && cli.folder.bytes(of: "copy") == cli.scene.bytes, "\(saved)")
        #expect(saved.errors.contains("fetchd is not answering") && saved.errors.contains("fetchd is back."))
        // If the service has never answered, the command fails at once.
        front.serve("/v1/stats", .fixed(), away)
        let unseen = try await cli.run("stats", environment: ["FETCHD_URL": front.url("")])
        #expect(unseen.ending == .exited(69) && unseen.errors.contains("answers 502"), "\(unseen)")
    }

    /// A stand-in service that creates one given job; `behaviours` are its faults at jobs, events and the file.
    private func serve(
        _ id: String, of cli: CommandLineScene, at front: Origin,
        _ behaviours: (jobs: OriginBehaviour, events: OriginBehaviour, file: OriginBehaviour)
    ) async throws {
        let done = try await cli.api.job(id).written
        let queued = done.replacing("\"state\":\"succeeded\"", with: "\"state\":\"queued\"")
        front.serve("/v1/stats", .fixed(body: try await cli.api.get("/v1/stats").body))
        front.serve("/v1/jobs", .fixed(status: 201, body: Array(queued.utf8)), behaviours.jobs)
        front.serve("/v1/jobs/\(id)", .fixed(body: Array(done.utf8)))
        let end = """
            id: 9999
            event: job.succeeded
            data: {"id":9999,"type":"job.succeeded","time":"2999-01-01T00:00:00.000Z","session":"default","job":"\(id)",\
            "data":{"snapshot":\(done)}}


            """
        let stream = OriginResource.fixed(headers: [("Content-Type", "text/event-stream")], body: Array(end.utf8))
        front.serve("/v1/events", stream, behaviours.events)
        front.serve("/v1/jobs/\(id)/file", .file(cli.scene.bytes), behaviours.file)
    }

    @Test(arguments: [false, true]) func reportsOnceWhenServiceDoesNotComeBack(_ isJSON: Bool) async throws {
        let cli = try await CommandLineScene()
        let waiting = try await cli.start("add", "--wait", isJSON ? "--json" : "-q", cli.url("/held"))
        _ = try await eventually("the download to be under way") {
            try await cli.api.get("/v1/jobs?state=running").json["jobs"].count == 1 ? true : nil
        }
        try await cli.fetchd.kill()
        _ = try await eventually("a message") { waiting.errors.hasSuffix("\n") ? true : nil }
        #expect(waiting.errors.contains("is not answering") && waiting.errors.contains("Still waiting"))
        #expect(waiting.errors.split(separator: "\n").count == 1 && waiting.errors.hasPrefix("{") == isJSON)
        waiting.signal(SIGINT)
        #expect(try await waiting.waitForEnd() == .exited(130))
        if isJSON { #expect(try JSON(parsing: Array(waiting.output.utf8))["url"].string == cli.url("/held")) }
    }

    /// Another client pauses the job: also with `--quiet` the command says so, and names the job when its timeout ends.
    @Test func namesPausedJobAndCommandToResumeIt() async throws {
        let cli = try await CommandLineScene()
        let waiting = try await cli.start("add", "--wait", "-q", "--timeout", "600", cli.url("/held"))
        let id = try await eventually("the job") { try await cli.api.get("/v1/jobs").json["jobs"][0]["id"].string }
        try await cli.api.waitForBytes(id)
        #expect(try await cli.run("pause", id).succeeded)
        _ = try await eventually("a message") { waiting.errors.contains("fetchd resume \(id)") ? true : nil }
        let late = try await run(cli, "watch", "--json", id) { $0.errors.contains("\(id) paused: held") }
        #expect(late.ending == .exited(124) && late.errors.contains("\(id) paused: held"), "\(late)")
        #expect(try await cli.run("delete", id).succeeded)
        #expect(try await waiting.waitForEnd() == .exited(1))
        #expect(waiting.errors.contains("\(id) cancelled: held") && waiting.output.isEmpty, "\(waiting.errors)")
    }

    /// Runs a command that its timeout ends, with longer timeouts if it has not come far enough before that.
    private func run(
        _ cli: CommandLineScene, _ arguments: String..., until isFarEnough: (ChildProcess.Outcome) -> Bool
    ) async throws -> ChildProcess.Outcome {
        for timeout in ["1", "5"] {
            let outcome = try await cli.run(arguments + ["--timeout", timeout])
            if isFarEnough(outcome) { return outcome }
        }
        return try await cli.run(arguments + ["--timeout", "25"])
    }

    /// The command prints one document: the jobs as they are, or as they were last known.
    @Test func printsOneDocumentWhenWaitIsCutShort() async throws {
        let cli = try await CommandLineScene()
        let overdue = try await run(cli, "add", "--wait", "--json", cli.url("/held"), cli.url("/file")) {
            $0.json["jobs"][0]["state"] == "running" && $0.json["jobs"][1]["state"] == "succeeded"
        }
        #expect(overdue.ending == .exited(124) && overdue.errorJSON["title"] == "The timeout has passed", "\(overdue)")
        #expect(overdue.json["jobs"][0]["state"] == "running" && overdue.json["jobs"][1]["state"] == "succeeded")
        let child = try await cli.start("add", "--wait", "--json", cli.url("/held"), cli.url("/file?2"))
        let running = try await eventually("both downloads") {
            let jobs = try await cli.api.get("/v1/jobs?limit=2").json["jobs"]
            return jobs[0]["state"] == "succeeded" && jobs[1]["state"] == "running"
                && jobs[0]["url"].string == cli.url("/file?2") ? jobs[1]["id"].string : nil
        }
        // The job is deleted: only the journal still has its state.
        #expect(try await cli.run("delete", running).succeeded)
        #expect(try await child.waitForEnd() == .exited(1))
        let document = try JSON(parsing: Array(child.output.utf8))
        #expect(document["jobs"].count == 2 && document["jobs"][0]["id"].string == running, "\(document)")
        #expect(document["jobs"][0]["state"] == "cancelled" && document["jobs"][1]["state"] == "succeeded")
    }

    /// The service accepts the connection and never answers.
    @Test func timesOutWhenServiceNeverAnswers() async throws {
        let (folder, silent, gate) = (try TemporaryFolder(), try Origin(), Gate())
        defer { gate.open() }
        for path in ["/v1/stats", "/v1/jobs"] { silent.serve(path, .fixed(), .waitingBeforeHead(for: gate)) }
        let environment = CommandLineScene.environment(silent.url(""), folder)
        let commands: [([String], Int32)] = [
            (["add", "--wait", "--timeout", "1", "http://example.org/"], 124), (["watch", "--timeout", "1"], 124),
            // As the shell completions call it.
            (["list", "--quiet", "--limit", "50", "--patience", "1"], 69),
        ]
        for (command, status) in commands {
            let start = ContinuousClock.now
            let outcome = try await FetchdProcess.run(command, environment: environment)
            #expect(outcome.ending == .exited(status), "\(command): \(outcome)")
            #expect(ContinuousClock.now - start < .seconds(30), "\(command)")
        }
    }

    /// No program reads the pipe; the command ends at the signal.
    @Test(arguments: [SIGINT, SIGTERM]) func endsBySignalWhileOutputIsBlocked(_ signal: Int32) async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .succeeded)
        #expect(mkfifo(cli.folder.path("pipe"), 0o600) == 0)
        let reader = open(cli.folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let child = try await ChildProcess(
            "/bin/bash", ["-c", "exec \(FetchdProcess.program) get \(id) > pipe"], environment: cli.environment,
            workingFolder: cli.folder.path)
        _ = try await eventually("the pipe to be full") {
            var count: Int32 = 0
            _ = ioctl(reader, UInt(FIONREAD), &count)
            return count >= 65_536 ? true : nil
        }
        child.signal(signal)
        #expect(try await child.waitForEnd() == .killed(signal: signal))
    }

    /// At SIGHUP or SIGINT the command removes its partial file.
    @Test(arguments: [
        (SIGHUP, "get -o copy JOB"), (SIGINT, "add -q --save copy URL"), (SIGHUP, "add -q --save copy URL"),
    ])
    func removesPartialFileWhenInterrupted(_ signal: Int32, _ command: String) async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let id = try await cli.scene.job(in: .succeeded)
        let nothing = OriginBehaviour()
        try await serve(id, of: cli, at: front, (nothing, nothing, .waiting(at: 100_000, for: cli.scene.gate)))
        defer { cli.scene.gate.open() }
        let arguments = command.replacing("JOB", with: id).replacing("URL", with: cli.url("/file")).split(
            separator: " ")
        let child = try await ChildProcess(
            FetchdProcess.program, arguments.map(String.init) + ["--url", front.url("")],
            environment: cli.environment, workingFolder: cli.folder.path)
        _ = try await eventually("the first bytes") { cli.folder.files.contains { $0.hasSuffix(".part") } ? true : nil }
        child.signal(signal)
        #expect(try await child.waitForEnd() == .exited(128 + signal))
        #expect(cli.folder.files.isEmpty)
    }

    /// The parent process ignores SIGINT, so the command does too.
    @Test func ignoresInterruptWhenSIGINTIsIgnored() async throws {
        let cli = try await CommandLineScene()
        let child = try await ChildProcess(
            "/bin/bash", ["-c", "trap '' INT; exec \(FetchdProcess.program) add --wait \(cli.url("/held"))"],
            environment: cli.environment)
        _ = try await eventually("the download") { child.errors.contains("running: held") ? true : nil }
        child.signal(SIGINT)
        cli.scene.gate.open()
        #expect(try await child.waitForEnd() == .exited(0), "\(child.errors)")
    }
}
