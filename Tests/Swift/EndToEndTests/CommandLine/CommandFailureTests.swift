import TestKit
import Testing

/// Failures between client and service: the message says what to do, and scripts can branch on the exit status.
@Suite struct CommandFailureTests {
    @Test func failsWhenServiceIsNotRunning() async throws {
        let cli = try await CommandLineScene()
        for command in [
            ["list"], ["add", "http://example.org/"], ["watch"], ["events", "--follow"], ["get", "job_1"],
        ] {
            let outcome = try await FetchdProcess.run(command, environment: ["FETCHD_URL": "http://127.0.0.1:1"])
            #expect(outcome.ending == .exited(69) && outcome.output.isEmpty, "\(command): \(outcome)")
            #expect(outcome.errors.contains("fetchd is not answering at http://127.0.0.1:1"))
            #expect(outcome.errors.contains("fetchd serve") && outcome.errors.contains("FETCHD_URL"))
        }
        let json = try await cli.run("list", "--json", "--url", "http://127.0.0.1:1")
        #expect(json.ending == .exited(69) && json.output.isEmpty)
        #expect(json.errorJSON["title"] == "fetchd cannot be reached" && json.errors.split(separator: "\n").count == 1)
    }

    @Test func failsWithWrongTokenAndReadsItFromEverySource() async throws {
        let cli = try await CommandLineScene(.init(token: "right"))
        let none = try await cli.run("list")
        #expect(
            none.ending == .exited(77) && none.errors.contains("FETCHD_TOKEN") && none.errors.contains("config.json"))
        let wrong = try await cli.run("list", environment: ["FETCHD_TOKEN": "wrong"])
        #expect(wrong.ending == .exited(77) && wrong.errors.contains("Check the token"))
        try cli.folder.write("right\n", to: "token")
        #expect(try await cli.run("list", environment: ["FETCHD_TOKEN": "right"]).succeeded)
        #expect(try await cli.run("list", "--token-file", "token", environment: ["FETCHD_TOKEN": "wrong"]).succeeded)
        #expect(try await cli.run("list", "--token", "right").succeeded)
        // With `--json`, too.
        let json = try await cli.run("list", "--json")
        #expect(json.errorJSON["detail"].string?.contains("FETCHD_TOKEN") == true && json.errorJSON["status"] == 401)
        try cli.folder.write("{\"url\": \"\(cli.fetchd.baseURL)\", \"token\": \"right\"}", to: "fetchd/config.json")
        let byFile = try await cli.run("list", environment: ["FETCHD_URL": ""])
        #expect(byFile.succeeded, "\(byFile)")
        let elsewhere = try await cli.run("list", "--url", "http://localhost:\(cli.fetchd.port)")
        #expect(elsewhere.ending == .exited(77) && elsewhere.errors.contains("is only for the address in that file"))
    }

    @Test func mapsProblemsOfServiceToExitStatusAndMessage() async throws {
        let cli = try await CommandLineScene()
        let done = try await cli.scene.job(in: .succeeded)
        let cases: [(arguments: [String], status: Int32, says: String)] = [
            (["show", "job_none"], 66, "There is no job job_none."), (["get", "job_none"], 66, "job_none"),
            (["session", "show", "none"], 66, "none"), (["watch", "--session", "none"], 66, "none"),
            (["pause", done], 75, "succeeded"), (["add", "--session", "none", cli.url("/file")], 66, "none"),
            (["add", "nonsense"], 65, "absolute URL"), (["session", "delete", "default"], 75, "default"),
            (["webhook", "show", "none"], 66, "none"), (["webhook", "redeliver", "dlv_none"], 66, "dlv_none"),
            (["events", "--after", "99999"], 65, "99999"),
            (["add", "--deadline", "2001-01-01T00:00:00Z", cli.url("/file")], 65, "--deadline is in the past"),
            (["add", "--out", "../x", cli.url("/file")], 65, "--out"),
            (["add", "-H", "Range: bytes=0-", cli.url("/file")], 65, "--header 'Range'"),
            (["session", "set", "x", "--connections", "99"], 65, "--connections must"),
            (["delete", "--state", "failed", "--session", "none"], 66, "none"),
        ]
        for (arguments, status, words) in cases {
            let outcome = try await FetchdProcess.run(arguments, environment: cli.environment)
            #expect(outcome.ending == .exited(status) && outcome.output.isEmpty, "\(arguments): \(outcome)")
            #expect(outcome.errors.hasPrefix("Error: ") && outcome.errors.contains(words), "\(outcome)")
            let json = try await FetchdProcess.run(arguments + ["--json"], environment: cli.environment)
            #expect(json.ending == .exited(status) && json.output.isEmpty, "\(arguments): \(json)")
            #expect(json.errorJSON["type"].string?.hasPrefix("/problems/") == true, "\(json)")
        }
    }

    /// Another program answers at the address: the command says so, and never sends the token after a redirect.
    @Test func failsWhenAnotherServerAnswersAndFollowsNoRedirect() async throws {
        let (cli, other, next) = (try await CommandLineScene(), try Origin(), try Origin())
        next.serve("/v1/jobs", .fixed(body: Array("{}".utf8)))
        for resource in [
            OriginResource.fixed(body: Array("<html>".utf8)), .fixed(status: 404, body: Array("<html>".utf8)),
            .redirect(to: next.url("/v1/jobs")), .fixed(body: Array(#"{"jobs": 7, "next_cursor": 1}"#.utf8)),
        ] {
            other.serve("/v1/jobs", resource)
            let outcome = try await cli.run(
                "list", environment: ["FETCHD_URL": other.url(""), "FETCHD_TOKEN": "secret"])
            #expect(outcome.ending == .exited(76) && outcome.output.isEmpty, "\(outcome)")
        }
        #expect(other.requests.allSatisfy { $0.header("Authorization") == "Bearer secret" })
        #expect(next.requests.isEmpty)
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func verifiesCertificateOfServiceWithCAFile() async throws {
        let (cli, server) = (try await CommandLineScene(), try await TLSOrigin())
        server.origin.serve("/behind/v1/jobs", .fixed(body: Array(#"{"jobs": [], "next_cursor": null}"#.utf8)))
        let environment = ["FETCHD_URL": server.url("/behind/")]
        let refused = try await cli.run("list", environment: environment)
        #expect(refused.ending == .exited(69) && refused.errors.contains("TLS failed"), "\(refused)")
        let trusted = try await cli.run("list", "--ca-file", server.certificatePath, "--json", environment: environment)
        #expect(trusted.succeeded && trusted.json["jobs"].count == 0, "\(trusted)")
    }

    /// The environment's proxies are for the web, not for the connection to the service.
    @Test func ignoresProxiesOfEnvironment() async throws {
        let cli = try await CommandLineScene()
        let proxies = ["http_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"]
        #expect(try await cli.run("list", environment: proxies).succeeded)
    }

    /// With `>&-` and `/dev/full`, output that cannot be written is an error; a message that cannot be written is not.
    @Test func failsWhenStandardOutputCannotBeWritten() async throws {
        let cli = try await CommandLineScene()
        for (redirection, status) in [(">&-", 73), ("> /dev/full", 73), ("2>&-", 0), ("2> /dev/full", 0)] {
            let outcome = try await cli.shell("fetchd add --wait -q \(cli.url("/file")) \(redirection)")
            #expect(outcome.ending == .exited(Int32(status)), "\(redirection): \(outcome)")
            #expect(outcome.output.hasPrefix("file") == (status == 0), "\(redirection): \(outcome)")
            if status != 0 { #expect(outcome.errors.contains("Standard output cannot be written")) }
        }
    }

    @Test func refusesServiceURLWithAPIPath() async throws {
        let cli = try await CommandLineScene()
        let outcome = try await cli.run("list", "--url", cli.fetchd.baseURL + "/v1")
        #expect(outcome.ending == .exited(78) && outcome.errors.contains("leave out /v1"), "\(outcome)")
    }

    @Test func refusesInvalidConfiguration() async throws {
        let cli = try await CommandLineScene()
        try cli.folder.write("{\"urls\": \"x\"}", to: "fetchd/config.json")
        let outcome = try await cli.run("list")
        #expect(outcome.ending == .exited(78) && outcome.errors.contains("it may contain url, token and ca_file"))
        #expect(try await cli.run("list", "--url", "ftp://x").ending == .exited(78))
    }
}
