import TestKit
import Testing

@Suite struct AddTests {
    @Test func addPrintsOnlyTheIdentifier() async throws {
        let cli = try await CommandLineScene()
        let added = try await cli.run("add", cli.url("/file"))
        #expect(added.succeeded && added.errors.isEmpty, "\(added)")
        #expect(added.lines.count == 1)
        let job = try await cli.api.waitForJob(added.lines[0], .succeeded)
        #expect(job["url"].string == cli.url("/file") && job["session"] == "default")
    }

    @Test func addSendsEveryOption() async throws {
        let cli = try await CommandLineScene()
        try await cli.api.declareSession("films")
        let added = try await cli.run(
            "add", "--json", "--session", "films", "--out", "videos/film.mkv", "--on-conflict", "replace", "--checksum",
            "sha256:" + SHA.hexadecimal(of: cli.scene.bytes), "-H", "X-Who: ada", "-H", "X-Empty:", "--priority",
            "high",
            "--connections", "2", "--rate-limit", "10M", "--not-before", "2019-01-01T00:00:00Z", "--deadline",
            "2999-01-01T00:00:00Z", "--wait-for", "url", "--wait-for", "credentials", "-t", "one", "-t", "two",
            "--mirror", cli.url("/mirror"), cli.url("/file"))
        #expect(added.succeeded, "\(added)")
        let id = try #require(added.json["id"].string)
        let job = try await cli.api.waitForJob(id, .succeeded)
        #expect(job["file"]["path"] == "videos/film.mkv" && job["session"] == "films" && job["priority"] == "high")
        #expect(job["tags"].written == #"["one","two"]"# && job["deadline"] == "2999-01-01T00:00:00.000Z")
        #expect(cli.scene.origin.requests(to: "/file").first?.header("X-Who") == "ada")
    }

    @Test func addSendsSeveralURLsAsOneBatch() async throws {
        let cli = try await CommandLineScene()
        let list = "# mine\n\(cli.url("/file?2"))\n\n  \(cli.url("/file?3"))\n"
        try cli.folder.write(cli.url("/file?5"), to: "more.txt")
        let added = try await cli.run(
            "add", "--json", cli.url("/file?1"), "-", cli.url("/file?4"), "--input", "more.txt", input: list)
        #expect(added.succeeded, "\(added)")
        let urls = (0..<5).map { added.json["jobs"][$0]["url"].string }
        #expect(urls == (1...5).map { cli.url("/file?\($0)") })
        // One URL is invalid, so no job is created.
        let before = try await cli.api.get("/v1/jobs").json["jobs"].count
        let refused = try await cli.run("add", cli.url("/file"), "ftp://example.org/file")
        #expect(refused.ending == .exited(65) && refused.output.isEmpty, "\(refused)")
        #expect(refused.errors.hasPrefix("Error: ftp://example.org/file: `url`"), "\(refused)")
        #expect(try await cli.api.get("/v1/jobs").json["jobs"].count == before)
    }

    /// `--json` prints a list for every list file, also of one URL; an invalid line is reported with its number.
    @Test func addAnswersListForListOfOneAndNamesInvalidLine() async throws {
        let cli = try await CommandLineScene()
        try cli.folder.write("\u{FEFF}\(cli.url("/file"))\n", to: "one.txt")
        for command in [["--input", "one.txt"], ["-"], ["--wait", "--input", "one.txt"]] {
            let added = try await cli.run(["add", "--json"] + command, input: cli.url("/file"))
            #expect(added.json["jobs"].count == 1, "\(command): \(added)")
        }
        try cli.folder.write("# mine\n\(cli.url("/file"))\n\nnonsense\n", to: "two.txt")
        let refused = try await cli.run("add", "-i", "two.txt")
        #expect(refused.ending == .exited(65))
        #expect(refused.errors.hasPrefix("Error: two.txt, line 4: nonsense: `url` is not an absolute URL"))
    }

    /// A `--save` path that cannot be written is an error before any job is created.
    @Test func addChecksSavePathBeforeDownload() async throws {
        let cli = try await CommandLineScene()
        try cli.folder.write("\(cli.url("/file"))\n\(cli.url("/file"))\n", to: "two.txt")
        try cli.folder.write("kept", to: "kept")
        let cases: [([String], Int32)] = [
            (["--save", "kept", "-i", "two.txt"], 64), (["--save", "new", "-"], 64),
            (["--save", "new", cli.url("/file"), cli.url("/file")], 64), (["--save", "none/", cli.url("/file")], 73),
            (["--save", "none/new", cli.url("/file")], 73), (["--save", "none/", "-i", "two.txt"], 73),
        ]
        for (arguments, status) in cases {
            let outcome = try await cli.run(["add"] + arguments, input: "\(cli.url("/file"))\n\(cli.url("/file"))")
            #expect(outcome.ending == .exited(status) && outcome.output.isEmpty, "\(arguments): \(outcome)")
        }
        #expect(cli.folder.bytes(of: "kept") == Array("kept".utf8))
        #expect(try await cli.scene.isUntouched())
    }

    /// One file that cannot be written does not stop the others, and the error names the command that saves it.
    @Test func addSavesOtherFilesWhenOneCannotBeWritten() async throws {
        let cli = try await CommandLineScene()
        cli.scene.origin.serve("/taken", .file(cli.scene.bytes))
        try cli.folder.write("", to: "here/taken/in-the-way")
        let saved = try await cli.run("add", "--save", "here", cli.url("/taken"), cli.url("/file"))
        #expect(saved.ending == .exited(73) && saved.output == "here/file\n", "\(saved)")
        #expect(
            saved.errors.contains("here/taken cannot be written") && saved.errors.contains("fetchd get -o PATH job_"))
        #expect(cli.folder.files == ["here/file", "here/taken/in-the-way"])
    }

    @Test func addRefusesInvalidOptions() async throws {
        let cli = try await CommandLineScene()
        let url = cli.url("/file")
        for arguments in [
            [], ["--out", "one.mkv", url, url], ["--checksum", "x", url], ["--timeout", "5", url],
            ["--wait", "--timeout", "0", url], ["--priority", "urgent", url], ["--input"],
        ] {
            let outcome = try await FetchdProcess.run(["add"] + arguments, environment: cli.environment)
            #expect(outcome.ending == .exited(64) && outcome.output.isEmpty, "\(arguments): \(outcome)")
        }
        let missing = try await cli.run("add", "--input", "none.txt")
        #expect(missing.ending == .exited(66) && missing.errors.contains("none.txt cannot be read"))
        #expect(try await cli.run("add", "--input", "/dev/null").ending == .exited(66))
        #expect(try await cli.scene.isUntouched())
    }

    /// The response is lost: the command repeats the request with the same key, and the service returns the same job.
    @Test func addRepeatsLostRequestWithSameIdempotencyKey() async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let job = try await cli.api.job(try await cli.api.submit(cli.scene.order()))
        front.serve("/v1/jobs", .fixed(status: 201, body: job.bytes), .closing(after: 10).once)
        front.serve("/v1/stats", .fixed(body: try await cli.api.get("/v1/stats").body))
        let added = try await cli.run("add", cli.url("/file"), environment: ["FETCHD_URL": front.url("")])
        #expect(added.succeeded && added.lines == [job["id"].string], "\(added)")
        let keys = front.requests(to: "/v1/jobs").map { $0.header("Idempotency-Key") }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
    }
}
