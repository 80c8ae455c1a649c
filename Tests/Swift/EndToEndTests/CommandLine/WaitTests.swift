import Formats
import Foundation
import TestKit
import Testing

/// `fetchd add --wait`, in place of `curl -O` in a script.
@Suite struct WaitTests {
    @Test func waitPrintsPathAndExitsWithZero() async throws {
        let cli = try await CommandLineScene()
        let done = try await cli.run("add", "--wait", cli.url("/file"))
        #expect(done.ending == .exited(0) && done.output == "file\n", "\(done)")
        let lines = done.errors.split(separator: "\n")
        #expect(lines.first?.hasSuffix(" queued: file") == true && lines.last?.contains(" succeeded: file") == true)
        #expect(cli.fetchd.downloaded("file") == cli.scene.bytes)
        let quiet = try await cli.run("add", "--wait", "-q", cli.url("/file"))
        #expect(quiet.output == "file (1)\n" && quiet.errors.isEmpty, "\(quiet)")
    }

    @Test(arguments: [false, true]) func waitExitsWithOneAndPrintsFailure(_ isQuiet: Bool) async throws {
        let cli = try await CommandLineScene()
        let failed = try await cli.run("add", "--wait", isQuiet ? "--quiet" : "--wait", cli.url("/missing"))
        #expect(failed.ending == .exited(1) && failed.output.isEmpty, "\(failed)")
        #expect(
            failed.errors.contains(
                "failed: \(cli.url("/missing")): bad_status: The server answered 404. (HTTP status 404)"))
        #expect(failed.errors.contains("fetchd retry job_"))
    }

    /// A signed list, as a script uses it. The key is given as a file, and as its line.
    @Test func waitExitsWithTwoIfTheVerificationFails() async throws {
        let cli = try await CommandLineScene()
        try cli.folder.write("\(SHA.hexadecimal(of: cli.scene.bytes))  file\n", to: "SUMS")
        let made = try await cli.shell(
            "minisign -G -W -p a.pub -s a.key; minisign -G -W -p b.pub -s b.key; minisign -S -s a.key -m SUMS")
        try #require(made.succeeded, "\(made)")
        for name in ["SUMS", "SUMS.minisig"] {
            cli.scene.origin.serve("/\(name)", .file(try #require(cli.folder.bytes(of: name))))
        }
        let key = try #require(cli.folder.bytes(of: "a.pub")).split(separator: 0x0A).last.map {
            String(decoding: $0, as: UTF8.self)
        }
        for given in [cli.folder.path("a.pub"), try #require(key)] {
            let add = [
                "add", "--wait", "--quiet", "--checksum-url", cli.url("/SUMS"), "--key", given, cli.url("/file"),
            ]
            let done = try await cli.run(add)
            #expect(done.ending == .exited(0), "\(done)")
        }
        let signify = try await cli.shell(
            "signify-openbsd -G -n -p c.pub -s c.sec; signify-openbsd -S -s c.sec -m SUMS -x SUMS.sig")
        try #require(signify.succeeded, "\(signify)")
        cli.scene.origin.serve("/SUMS.sig", .file(try #require(cli.folder.bytes(of: "SUMS.sig"))))
        let done = try await cli.run(
            "add", "--wait", "--checksum-url", cli.url("/SUMS"), "--key", cli.folder.path("c.pub"), cli.url("/file"))
        #expect(done.ending == .exited(0), "\(done)")
        let wrongKey = try await cli.run(
            "add", "--wait", "--checksum-url", cli.url("/SUMS"), "--key", cli.folder.path("b.pub"), cli.url("/file"))
        #expect(wrongKey.ending == .exited(2) && wrongKey.errors.contains("signature_invalid"), "\(wrongKey)")
        let unlisted = try await cli.run(
            "add", "--wait", "--checksum-url", cli.url("/SUMS"), "--checksum-name", "other", cli.url("/file"))
        #expect(unlisted.ending == .exited(2) && unlisted.errors.contains("checksum_unavailable"), "\(unlisted)")
        // Another failure beside that of the verification.
        let both = try await cli.run(
            "add", "--wait", "--checksum-url", cli.url("/SUMS"), cli.url("/missing"), cli.url("/file"))
        #expect(both.ending == .exited(2), "\(both)")
        let mixed = try await cli.run(
            "add", "--wait", "--checksum", "md5:\(String(repeating: "0", count: 32))", cli.url("/file"))
        #expect(mixed.ending == .exited(2), "\(mixed)")
        for misuse in [
            ["--key", "x"], ["--key", cli.folder.path("a.pub")], ["--checksum-name", "x"],
            ["--checksum-url", cli.url("/SUMS"), "--signature", "minisign"],
            ["--checksum-url", cli.url("/SUMS"), "--checksum", "md5:\(String(repeating: "0", count: 32))"],
        ] {
            let outcome = try await cli.run(["add"] + misuse + [cli.url("/file")])
            #expect(outcome.ending == .exited(64), "\(misuse): \(outcome)")
        }
    }

    @Test func waitPrintsJobDocumentsAsJSON() async throws {
        let cli = try await CommandLineScene()
        let one = try await cli.run("add", "--wait", "--json", cli.url("/missing"))
        #expect(one.ending == .exited(1) && one.errors.isEmpty, "\(one)")
        #expect(one.json["failure"]["code"] == "bad_status" && one.json["failure"]["status"] == 404)
        let two = try await cli.run("add", "--wait", "--json", cli.url("/file"), cli.url("/missing"))
        #expect(two.ending == .exited(1) && two.errors.isEmpty)
        #expect(two.json["jobs"][0]["state"] == "succeeded" && two.json["jobs"][1]["state"] == "failed")
        // The documents of the API, member by member.
        #expect(two.json["jobs"][0] == (try await cli.api.job(two.json["jobs"][0]["id"].string ?? "")))
    }

    @Test func waitContinuesAfterServiceIsKilledAndRestarted() async throws {
        let cli = try await CommandLineScene(.init(keepsPort: true))
        let waiting = try await cli.start("add", "--wait", cli.url("/held"), cli.url("/file"))
        _ = try await eventually("the download to be under way") {
            waiting.errors.contains("succeeded: file") && waiting.errors.contains("running: held") ? true : nil
        }
        try await cli.fetchd.kill()
        _ = try await eventually("the command to report the lost service") {
            waiting.errors.contains("not answering") ? true : nil
        }
        cli.scene.gate.open()
        try await cli.fetchd.restart()
        #expect(try await waiting.waitForEnd() == .exited(0), "\(waiting.errors)")
        #expect(waiting.output == "held\nfile\n")
        #expect(waiting.errors.contains("fetchd is back."))
        // Printed once, although the command read the journal again.
        #expect(waiting.errors.components(separatedBy: "succeeded: file").count == 2)
        #expect(try await cli.api.get("/v1/jobs").json["jobs"].count == 2)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func interruptEndsWaitButNotDownload(_ signal: Int32) async throws {
        let cli = try await CommandLineScene()
        let waiting = try await cli.start("add", "--wait", cli.url("/held"))
        _ = try await eventually("the download to be under way") {
            waiting.errors.contains("running: held") ? true : nil
        }
        waiting.signal(signal)
        #expect(try await waiting.waitForEnd() == .exited(128 + signal))
        let id = try #require(waiting.errors.split(separator: " ").first.map(String.init))
        #expect(waiting.errors.contains("The download continues in the service. To watch again: fetchd watch \(id)\n"))
        cli.scene.gate.open()
        let watched = try await cli.run("watch", id)
        #expect(watched.succeeded && watched.errors.contains("succeeded: held"), "\(watched)")
    }

    @Test func waitEndsWhenJobIsDeleted() async throws {
        let cli = try await CommandLineScene()
        let waiting = try await cli.start("add", "--wait", "--json", cli.url("/held"), cli.url("/file"))
        let id = try await eventually("the job") {
            try await cli.api.get("/v1/jobs").json["jobs"].arrayValue?.last?["id"].string
        }
        #expect(try await cli.run("delete", id).succeeded)
        #expect(try await waiting.waitForEnd() == .exited(1), "\(waiting.errors)")
        let document = try JSON(parsing: Array(waiting.output.utf8))
        #expect(document["jobs"][0]["state"] == "cancelled" && document["jobs"][1]["state"] == "succeeded")
    }

    @Test func waitEndsAfterTimeout() async throws {
        let cli = try await CommandLineScene()
        let overdue = try await cli.run("add", "--wait", "--timeout", "0.5", cli.url("/held"))
        #expect(
            overdue.ending == .exited(124) && overdue.errors.contains("Error: The time of --timeout has passed."))
        #expect(try await cli.api.get("/v1/jobs").json["jobs"][0]["finished_at"] == .null)
    }

    @Test func saveWritesFileToClient() async throws {
        let cli = try await CommandLineScene()
        try cli.folder.write("another", to: "file")
        let saved = try await cli.run("add", "-q", "--save", ".", cli.url("/file"))
        #expect(saved.succeeded && saved.output == "file\n", "\(saved)")
        #expect(cli.folder.bytes(of: "file") == cli.scene.bytes && cli.folder.files == ["file"])
        let named = try await cli.run("add", "-q", "--save", "named.bin", "--json", cli.url("/file"))
        #expect(named.json["state"] == "succeeded" && cli.folder.bytes(of: "named.bin") == cli.scene.bytes)
        let failed = try await cli.run("add", "-q", "--save", "failed.bin", cli.url("/missing"))
        #expect(failed.ending == .exited(1) && cli.folder.files == ["file", "named.bin"])
        let nowhere = try await cli.run("add", "-q", "--save", "no/such/file", cli.url("/file"))
        #expect(nowhere.ending == .exited(73) && nowhere.errors.contains("no/such/file cannot be written"))
    }

    @Test func waitNamesCommandThatSuppliesCredentials() async throws {
        let cli = try await CommandLineScene()
        cli.scene.origin.serve(
            "/private", .file(cli.scene.bytes),
            .answering(401, headers: [("WWW-Authenticate", "Basic realm=\"films\"")]).when {
                $0.request.header("Authorization") == nil
            })
        let waiting = try await cli.start("add", "--wait", "--wait-for", "credentials", cli.url("/private"))
        _ = try await eventually("the request for credentials") {
            waiting.errors.contains("fetchd update job_") ? true : nil
        }
        #expect(waiting.errors.contains("waiting: credentials: private"))
        let id = try #require(waiting.errors.split(separator: " ").first.map(String.init))
        let updated = try await cli.run("update", "--user", "ada", "--password-file", "-", id, input: "horse\n")
        #expect(updated.succeeded, "\(updated)")
        #expect(try await waiting.waitForEnd() == .exited(0))
        #expect(cli.scene.origin.requests(to: "/private").last?.header("Authorization") == "Basic YWRhOmhvcnNl")
    }
}
