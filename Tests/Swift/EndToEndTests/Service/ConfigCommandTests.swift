import Formats
import Foundation
import TestKit
import Testing

/// `fetchd config show`, `fetchd config check`, and the table of docs/configuration.md.
@Suite struct ConfigCommandTests {
    // MARK: Show

    @Test(.onSQLite) func showsValuesWithTheirSourcesAndNoSecrets() async throws {
        let fetchd = try await FetchdProcess.start()
        _ = try await fetchd.api.send("PATCH", "/v1/service", ["max_connections_per_host": 3, "log_level": "error"])
        let file = try fetchd.folder.write(
            #"{"token": "s3cret", "key_command": "vault s3cret", "max_file_size": 5, "log_level": "debug"}"#,
            to: "fetchd.json")
        let arguments = [
            "config", "show", "--config", file, "--data-dir", fetchd.folder.path("data"), "--max-concurrent-jobs", "4",
        ]
        let environment = ["FETCHD_PUBLIC_HOST": "a.example,b.example", "FETCHD_MAX_CONCURRENT_JOBS": "5"]
        let shown = try await FetchdProcess.run(arguments + ["--json"], environment: environment)
        #expect(shown.succeeded, "\(shown)")
        let expected: [(name: String, value: JSON, source: JSON)] = [
            ("max_concurrent_jobs", 4, "flag"), ("public_host", ["a.example", "b.example"], "environment"),
            ("max_file_size", 5, "file"), ("stop_timeout", 25, "default"), ("max_connections_per_host", 3, "api"),
            ("log_level", "error", "api"), ("token", "(not shown)", "file"),
            ("key_command", "vault (arguments not shown)", "file"), ("listen", "127.0.0.1:8080", "default"),
            ("max_parts", nil, "default"),
        ]
        for (name, value, source) in expected {
            #expect(shown.json[name] == value && shown.json["sources"][name] == source, "\(name): \(shown.output)")
        }
        let text = try await FetchdProcess.run(arguments, environment: environment)
        #expect(text.output.contains(/\nmax_concurrent_jobs +flag +4\n/))
        #expect(text.output.contains(/\nmax_parts +default +-\n/))
        #expect(!(text.output + shown.output).contains("s3cret"))
    }

    @Test func refusesToShowAnInvalidSetting() async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--max-concurrent-jobs", "0"])
        #expect(outcome.ending == .exited(64) && outcome.errors.contains("max_concurrent_jobs is 0"))
    }

    // MARK: Check

    @Test(
        arguments: [
            ("{}", []),
            (
                #"{"webhook_retry_delays": [0, 5, 0.5, "15m"], "finished_retention": "30d", "max_file_size": "1.5G", "allow_origin_port": [443, "8000-8999"]}"#,
                []
            ),
            (#"{"listen": "none", "unix_socket": "/run/x", "token": "x"}"#, []),
            (
                "{\n  \"listen\": 8080,\n  \"colour\": 1,\n  \"max_parts\": -1\n}",
                [
                    "2: listen, set by", "3: 'colour' is not a setting of fetchd.",
                    "4: max_parts is -1; it must be a whole number from 0 to",
                ]
            ),
            (
                "{\n\n\"schedule\": [\"mun 08:00-09:00 UTC max_concurrent_jobs=1\"],\n\"allow_network\": [\"x\"], \"file_mode\": \"9\"}",
                ["3: schedule contains 'mun 08:00", "4: allow_network contains 'x'", "4: file_mode is '9'"]
            ),
            (
                "{\n\"webhook_retry_delays\": [\"soon\"],\n\"token\": \"a b\",\n\"allow_origin\": [\"a b\"]}",
                ["2: webhook_retry_delays", "3: The token must be visible", "4: allow_origin contains 'a b'"]
            ),
            ("{\n  \"listen\": \"127.0.0.1:0\"\n  \"max_parts\": 1\n}", ["3: A comma or the end of the object"]),
            ("{\n\"max_parts\": 1,\n\"max_parts\": 2}", ["3: The object has two members"]),
            ("[]", ["1: The file must hold a JSON object"]), ("", ["1: The text ends where a value should be."]),
            (#"{"listen": "none"}"#, [" listen is 'none', so fetchd needs a Unix domain socket"]),
            (#"{"key_file": "k", "key_command": "c"}"#, [" key_file and key_command are both set"]),
        ] as [(String, [String])])
    func checkListsEveryMistakeWithItsLine(_ text: String, _ mistakes: [String]) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(text, to: "fetchd.json")
        let outcome = try await FetchdProcess.run(["config", "check", file])
        #expect(outcome.ending == .exited(mistakes.isEmpty ? 0 : 78), "\(outcome)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == mistakes.count, "\(outcome.errors)")
        for (line, mistake) in zip(lines, mistakes) { #expect(line.hasPrefix("\(file):\(mistake)"), "\(line)") }
    }

    @Test func checkSaysThatAFileCannotBeRead() async throws {
        let outcome = try await FetchdProcess.run(["config", "check", "/none.json"])
        #expect(
            outcome.ending == .exited(64)
                && outcome.errors.contains("/none.json cannot be read: No such file or directory."))
        let folder = try await FetchdProcess.run(["config", "check", "/"])
        #expect(folder.ending == .exited(64) && folder.errors.contains("/ cannot be read: Is a directory."))
    }

    @Test func serviceNamesTheLineOfAMalformedFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("{\n  \"max_parts\": 1,\n}", to: "fetchd.json")
        let outcome = try await FetchdProcess.run(["serve", "--config", file])
        #expect(outcome.ending == .exited(64))
        #expect(
            outcome.errors.contains("\(file) has a mistake in line 3: A member's name should be here")
                && outcome.errors.contains("fetchd config check \(file)"), "\(outcome)")
    }

    // MARK: The page

    /// To renew the table: fetchd config show --table.
    @Test(.onSQLite) func pageHasTheTableOfTheCode() async throws {
        let page = try String(contentsOf: Project.root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let table = try await FetchdProcess.run(["config", "show", "--table"])
        #expect(table.succeeded && table.output.contains("| `--max-concurrent-jobs` | `FETCHD_MAX_CONCURRENT_JOBS` |"))
        #expect(page.contains(table.output), "docs/configuration.md is not current")
    }

    /// Every option of the service has a row.
    @Test func tableHasEveryOption() async throws {
        let table = try await FetchdProcess.run(["config", "show", "--table"]).output
        let help = try await FetchdProcess.run(["serve", "--help"]).output
        for option in help.matches(of: /\n  --([a-z0-9-]+)/).map(\.1)
        where !["config", "version", "help"].contains(option) {
            #expect(table.contains("| `--\(option)` |"), "\(option)")
        }
    }

    @Test func exampleOfThePageIsValid() async throws {
        let page = try String(contentsOf: Project.root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let example = try #require(page.components(separatedBy: "```json\n").dropFirst().first)
        let folder = try TemporaryFolder()
        let file = try folder.write(
            try #require(example.components(separatedBy: "```").first), to: "fetchd.json")
        #expect(try await FetchdProcess.run(["config", "check", file]).succeeded)
    }
}
