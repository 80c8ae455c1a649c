import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// The help, the completions and docs/command-line.md: their examples work as printed.
@Suite struct HelpTests {
    private static let commands = [
        ["add"], ["list"], ["show"], ["watch"], ["get"], ["pause"], ["resume"], ["cancel"], ["retry"], ["update"],
        ["delete"], ["import"], ["import", "queue"], ["import", "list"], ["import", "aria2"], ["events"], ["stats"],
        ["health"], ["hooks"], ["hooks", "run"], ["hooks", "list"], ["hooks", "delete"],
        ["locations"], ["hosts"], ["hosts", "list"], ["hosts", "open"], ["nodes"], ["nodes", "list"],
        ["nodes", "forget"],
        ["session"], ["webhook"], ["token"], ["audit"], ["completions"],
        ["token", "create"], ["token", "list"], ["token", "rotate"], ["token", "revoke"],
        ["session", "list"], ["session", "show"], ["session", "set"], ["session", "pause"], ["session", "resume"],
        ["session", "cancel"], ["session", "acknowledge"], ["session", "manifest"], ["session", "delete"],
        ["webhook", "list"], ["webhook", "show"], ["webhook", "set"], ["webhook", "delete"], ["webhook", "test"],
        ["webhook", "rotate-secret"], ["webhook", "recover"], ["webhook", "enable"], ["webhook", "deliveries"],
        ["webhook", "delivery"], ["webhook", "redeliver"], ["webhook", "keys"], ["webhook", "rotate-key"],
    ]

    /// The help lists exactly these commands.
    @Test func commandListMatchesHelp() async throws {
        let help = try await FetchdProcess.run(["--experimental-dump-help"])
        let commands = Self.subcommands(of: help.json["command"], path: [])
        let local = [
            ["serve"], ["backup"], ["restore"], ["doctor"], ["export"], ["compact"], ["rotate-key"], ["migrate-store"],
            ["config"],
            ["config", "show"], ["config", "check"],
        ]
        #expect(Set(commands) == Set(Self.commands + local))
    }

    private static func subcommands(of command: JSON, path: [String]) -> [[String]] {
        (command["subcommands"].arrayValue ?? []).filter { $0["commandName"] != "help" }.flatMap { command in
            let path = path + [command["commandName"].string ?? ""]
            return [path] + subcommands(of: command, path: path)
        }
    }

    /// Every example of every command succeeds as printed, in a shell, with a service that has the jobs they name.
    @Test func examplesOfHelpSucceed() async throws {
        let cli = try await CommandLineScene()
        for command in Self.commands {
            let examples = try await examples(of: command)
            #expect(!examples.isEmpty, "\(command)")
            // The service has no other node to forget, and no closed server. Hooks run until Ctrl-C.
            for example in examples
            where !example.contains("--follow") && !example.contains("nodes forget")
                && !example.contains("hosts open") && !example.contains("hooks run")
            {
                try await play(example, cli)
            }
        }
    }

    private func play(_ example: String, _ cli: CommandLineScene) async throws {
        let line = try await cast(for: example, cli).reduce(example) { $0.replacing($1.key, with: $1.value) }
        try cli.folder.write(cli.url("/file"), to: "urls.txt")
        try cli.folder.write("\(cli.url("/file"))\n gid=1\n", to: "aria2.session")
        try cli.folder.write("url\n\(cli.url("/file"))\n", to: "samples.tsv")
        try cli.folder.write("fastq_ftp\n\(cli.url("/file"))\n", to: "report.tsv")
        try cli.folder.write("\(SHA.hexadecimal(of: cli.scene.bytes))  file\n", to: "SHA256SUMS")
        try cli.folder.write(
            #"{"kind":"job","id":"job_1","request":{"url":"\#(cli.url("/file"))"}}"# + "\n", to: "queue.jsonl")
        let outcome = try await cli.shell("mkdir -p \"$(dirname \"\(Self.redirection(line))\")\"\n\(line)")
        #expect(outcome.succeeded, "\(line): \(outcome)")
    }

    private func examples(of command: [String]) async throws -> [String] {
        let help = try await ChildProcess.run(
            FetchdProcess.program, command + ["--help"], environment: ["COLUMNS": "80"])
        #expect(help.succeeded)
        let text = help.output.components(separatedBy: "EXAMPLES:").dropFirst().joined()
        let lines = text.split(separator: "\n").prefix { !$0.hasPrefix("USAGE:") }
        // No example is so long that the help would wrap it.
        #expect(lines.allSatisfy { $0.hasPrefix("  fetchd ") }, "\(lines)")
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("fetchd ") }
    }

    /// The job, delivery and site that stand for those of the example.
    private func cast(for example: String, _ cli: CommandLineScene) async throws -> [String: String] {
        let state: JobState.Kind =
            example.contains("retry")
            ? .failed
            : ["pause", "resume", "cancel", "update"].contains { example.contains($0) } ? .running : .succeeded
        try await cli.api.declareSession("photos")
        // Later examples do not wait for jobs that earlier ones left running.
        for session in ["default", "photos"] { _ = try await cli.api.post("/v1/sessions/\(session)/cancel") }
        _ = try await cli.api.put("/v1/sessions/photos/webhooks/me", ["url": .string(cli.url("/hook"))])
        _ = try await cli.api.put("/v1/sessions/default/webhooks/me", ["url": .string(cli.url("/hook"))])
        let delivery = try await cli.api.post("/v1/sessions/default/webhooks/me/test").json["id"].string
        _ = try await cli.api.put("/v1/consumers/mail", ["events": ["session.*"]])
        let token = try await cli.api.createToken("read")["id"].string ?? ""
        for name in ["image.iso", "a.iso", "1.jpg", "2.jpg"] {
            cli.scene.origin.serve("/\(name)", .file(cli.scene.bytes))
        }
        cli.scene.origin.serve("/SUMS", .file(Array("\(SHA.hexadecimal(of: cli.scene.bytes))  a.iso\n".utf8)))
        return [
            "job_01HZX3K9V7Q2N4R8T6W0YB5CDE": try await cli.scene.job(in: state),
            "dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG": delivery ?? "", "tok_01HZX3K9V7Q2N4R8T6W0YB5CDH": token,
            "https://example.org": cli.url(""),
            "--after 412": "--after 1", "~/": cli.folder.path + "/",
        ]
    }

    private static func redirection(_ line: String) -> String {
        line.split(separator: "> ").dropFirst().last.map(String.init) ?? "x"
    }

    @Test func completesCommandsOptionsValuesAndIdentifiers() async throws {
        for shell in ["bash", "zsh", "fish"] {
            let script = try await FetchdProcess.run(["completions", shell])
            #expect(script.succeeded && script.output.contains("acknowledge"), "\(shell)")
        }
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .succeeded)
        let outcome = try await cli.shell(
            """
            set +u
            fetchd completions bash > script && bash -n script && source ./script
            complete() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _fetchd fetchd "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[*]}"; }
            complete fetchd sess
            complete fetchd session ackn
            complete fetchd add --chec
            complete fetchd list --state suc
            export -f fetchd
            complete fetchd show ''
            """)
        #expect(
            outcome.lines == ["session", "acknowledge", "--checksum --checksum-url --checksum-name", "succeeded", id],
            "\(outcome)")
    }

    @Test func runsExamplesOfCommandLinePage() async throws {
        let page = try String(contentsOf: Project.root.appending(path: "docs/command-line.md"), encoding: .utf8)
        let script = try #require(
            page.components(separatedBy: "```sh\n").dropFirst().first?.components(separatedBy: "```").first)
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"]))
        let folder = try TemporaryFolder()
        let outcome = try await ChildProcess.run(
            "/bin/bash", ["-euo", "pipefail", "-c", "fetchd() { \(FetchdProcess.program) \"$@\"; }\n" + script],
            environment: CommandLineScene.environment(fetchd.baseURL, folder), workingFolder: folder.path,
            atMost: .seconds(300))
        #expect(outcome.succeeded, "\(outcome)")
        for command in Self.commands {
            #expect(page.contains("fetchd \(command.joined(separator: " "))"), "\(command)")
        }
        #expect(folder.files.contains("film.mkv") && folder.files.contains("copy.mkv"))
        #expect(outcome.output.contains("it is not there") && outcome.output.contains("bad_status 404"))
    }
}
