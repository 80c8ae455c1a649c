import Foundation
import TestKit
import Testing

/// Settings are read from options, environment, configuration file and defaults, in that order; the help lists them.
@Suite struct SettingsTests {
    /// The host names that the service answers to; each source gives another name.
    private func namesTaken(
        _ folder: TemporaryFolder, arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> [String] {
        let fetchd = try await FetchdProcess.start(.init(arguments: arguments, environment: environment))
        var names: [String] = []
        for name in ["file.example", "environment.example", "option.example"]
        where try await fetchd.api.get("/v1/jobs", headers: [("Host", name)]).status == 200 {
            names.append(name)
        }
        return names
    }

    @Test func prefersOptionsToEnvironmentToFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(#"{"public_host": ["file.example"]}"#, to: "fetchd.json")
        let environment = ["FETCHD_PUBLIC_HOST": "other.example,environment.example"]
        let option = ["--public-host", "option.example"]
        #expect(try await namesTaken(folder) == [])
        #expect(try await namesTaken(folder, arguments: ["--config", file]) == ["file.example"])
        #expect(try await namesTaken(folder, environment: ["FETCHD_CONFIG": file]) == ["file.example"])
        #expect(
            try await namesTaken(folder, arguments: ["--config", file], environment: environment)
                == ["environment.example"])
        #expect(
            try await namesTaken(folder, arguments: ["--config", file] + option, environment: environment)
                == ["option.example"])
    }

    @Test(arguments: ["environment", "file"])
    func readsEverySettingFromEnvironmentOrFile(_ source: String) async throws {
        let folder = try TemporaryFolder()
        var (arguments, environment) = (["serve"], [String: String]())
        if source == "file" {
            let settings = """
                {
                    "listen": "127.0.0.1:0", "data_dir": "memory", "downloads_dir": "files", "token": "from-the-file",
                    "max_concurrent_jobs": 3, "max_connections_per_host": 2, "allow_network": ["127.0.0.0/8"],
                    "deny_network": ["10.1.0.0/16"], "allow_webhook_network": ["10.0.0.0/8"],
                    "allow_origin_host": ["*.example.com", "b\u{FC}cher.example"], "deny_origin_host": ["10.0.0.1"],
                    "allow_origin_port": ["443", "8000-8999"], "file_mode": "0640", "directory_mode": "0750",
                    "max_file_size": 1000000, "max_parts": 10, "rate_limit_bytes_per_second": "2Mi",
                    "event_retention": "7d", "trusted_proxy": ["10.0.0.0/8", "unix"],
                    "schedule": ["sat,sun 08:00-09:00 UTC max_concurrent_jobs=1"],
                    "public_host": ["a.example", "b.example"], "webhook_retry_delays": ["0", "0.5"],
                    "allow_origin": ["http://a.example", "http://b.example"],
                    "log_level": "debug"
                }
                """
            arguments += ["--config", try folder.write(settings, to: "fetchd.json")]
        } else {
            environment = [
                "FETCHD_LISTEN": "127.0.0.1:0", "FETCHD_DATA_DIR": "memory", "FETCHD_DOWNLOADS_DIR": "files",
                "FETCHD_TOKEN": "from-the-environment", "FETCHD_MAX_CONCURRENT_JOBS": "3",
                "FETCHD_MAX_CONNECTIONS_PER_HOST": "2", "FETCHD_ALLOW_NETWORK": "127.0.0.0/8,10.0.0.0/8",
                "FETCHD_DENY_NETWORK": "10.1.0.0/16", "FETCHD_ALLOW_WEBHOOK_NETWORK": "10.0.0.0/8",
                "FETCHD_ALLOW_ORIGIN_HOST": "*.example.com,b\u{FC}cher.example", "FETCHD_DENY_ORIGIN_HOST": "10.0.0.1",
                "FETCHD_ALLOW_ORIGIN_PORT": "443,8000-8999", "FETCHD_FILE_MODE": "0640",
                "FETCHD_DIRECTORY_MODE": "0750", "FETCHD_MAX_FILE_SIZE": "1000000", "FETCHD_MAX_PARTS": "10",
                "FETCHD_PUBLIC_HOST": "a.example,b.example", "FETCHD_WEBHOOK_RETRY_DELAYS": "0,0.5",
                "FETCHD_ALLOW_ORIGIN": "http://a.example,http://b.example",
                "FETCHD_LOG_LEVEL": "debug", "FETCHD_RATE_LIMIT_BYTES_PER_SECOND": "2Mi",
                "FETCHD_EVENT_RETENTION": "7d",
                "FETCHD_TRUSTED_PROXY": "10.0.0.0/8,unix", "FETCHD_LOGLEVEL": "x", "FETCHD_SERVICE_HOST": "10.0.0.1",
                "FETCHD_SCHEDULE":
                    "sat,sun 08:00-09:00 UTC max_concurrent_jobs=1; mon 08:00-09:00 UTC max_concurrent_jobs=2",
            ]
        }
        let child = try await ChildProcess(
            FetchdProcess.program, arguments, environment: environment, workingFolder: folder.path)
        let port = try await eventually("fetchd to be ready") {
            if let ending = child.endingSoFar { throw Overdue("fetchd ended (\(ending)): \(child.errors)") }
            return child.errors.firstMatch(of: /ready at http:\/\/127\.0\.0\.1:([0-9]+)/).flatMap { Int($0.1) }
        }
        let api = APIClient(baseURL: "http://127.0.0.1:\(port)", token: "from-the-\(source)")
        #expect(try await api.get("/v1/jobs", headers: [("Host", "b.example")]).status == 200)
        let asPage = try await api.get("/v1/jobs", headers: [("Origin", "http://b.example")])
        #expect(asPage.header("Access-Control-Allow-Origin") == "http://b.example")
        #expect(child.errors.contains("debug"))
        let values = try await api.get("/v1/service").json
        #expect(values["rate_limit_bytes_per_second"] == 2_097_152 && values["event_retention"] == 604_800)
        let warnings = child.errors.split(separator: "\n").filter { $0.contains("no setting of fetchd") }
        #expect(warnings.count == (source == "environment" ? 1 : 0))
        #expect(warnings.allSatisfy { $0.contains("Did you mean FETCHD_LOG_LEVEL?") && !$0.contains("SERVICE_HOST") })
        #expect(folder.files.contains("memory/fetchd.sqlite"))
        #expect(FileManager.default.fileExists(atPath: folder.path("files/.incomplete")))
        child.signal(SIGINT)
        #expect(try await child.waitForEnd() == .exited(0))
    }

    @Test(arguments: [
        ("", "has a mistake in line 1"), ("{", "has a mistake in line 1"), (#"{"listen": 8080}"#, "listen"),
        (#"{"max_concurrent_jobs": "many"}"#, "max_concurrent_jobs"), (#"{"colour": "blue"}"#, "colour"),
        (#"{"max_concurrent_jobs": 0}"#, "max_concurrent_jobs is 0"), ("[]", "must hold a JSON object"),
    ])
    func refusesInvalidConfigurationFile(_ text: String, _ message: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(text, to: "fetchd.json")
        let outcome = try await FetchdProcess.run(["serve", "--config", file], workingFolder: folder.path)
        #expect(outcome.ending == .exited(64))
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(folder.files == ["fetchd.json"])
    }

    @Test func namesAllMistakesOfTheConfigurationFile() async throws {
        let folder = try TemporaryFolder()
        let text = "{\n\"max_parts\": -1,\n\"colour\": 1,\n\"event_retention\": \"long\",\n\"log_level\": \"loud\"}"
        let file = try folder.write(text, to: "fetchd.json")
        let outcome = try await FetchdProcess.run(["serve", "--config", file], workingFolder: folder.path)
        #expect(outcome.ending == .exited(64))
        for mistake in ["2: max_parts is -1", "3: 'colour'", "4: event_retention, set by", "5: log_level is 'loud'"] {
            #expect(outcome.errors.contains("\(file):\(mistake)"), "\(outcome.errors)")
        }
        #expect(outcome.errors.contains("The configuration file has 4 mistakes."))
        // A stronger source hides a mistake, and is named alone.
        let valid = try folder.write("{\"max_parts\": -1, \"file_mode\": \"9\"}", to: "fetchd.json")
        let option = try await FetchdProcess.run([
            "serve", "--config", valid, "--log-level", "loud", "--max-parts", "1", "--file-mode", "0600",
        ])
        #expect(
            option.errors.contains("log_level is 'loud'") && !option.errors.contains("mistakes"), "\(option.errors)")
    }

    @Test func refusesMissingConfigurationFile() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await FetchdProcess.run(["serve", "--config", folder.path("none.json")])
        #expect(outcome.ending == .exited(64))
        #expect(outcome.errors.contains("none.json cannot be read"))
    }

    @Test func helpShowsDefaultOfEveryOption() async throws {
        let help = try await FetchdProcess.run(["serve", "--help"])
        #expect(help.succeeded)
        let defaults = [
            "config": "none", "listen": "127.0.0.1:8080",
            "data-dir": "~/.local/share/fetchd; for root /var/lib/fetchd/data",
            "downloads-dir": "~/Downloads/fetchd; for root /var/lib/fetchd/downloads",
            "max-concurrent-jobs": "16", "max-connections-per-host": "6", "allow-network": "none",
            "deny-network": "none", "allow-webhook-network": "none", "allow-origin-host": "any host",
            "deny-origin-host": "none", "allow-origin-port": "any port", "max-file-size": "no limit",
            "max-parts": "no limit", "file-mode": "0666, less the umask", "directory-mode": "0755, less the umask",
            "public-host": "none", "trusted-proxy": "none", "allow-origin": "none",
            "webhook-retry-delays": "0,5,300,1800,7200,18000,36000,50400,72000,86400",
            "stop-timeout": "25", "stop-delay": "0", "log-level": "info", "schedule": "none",
            "rate-limit-bytes-per-second": "0",
        ]
        // As one line, because the help is wrapped to the terminal's width.
        let text = help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let options = text[(text.firstRange(of: "OPTIONS:")?.upperBound ?? text.endIndex)...]
        for (option, value) in defaults {
            let start = try #require(options.firstRange(of: "--\(option) <"), "\(option)")
            let entry = options[start.upperBound...]
            let end = entry.firstRange(of: " --")?.lowerBound ?? entry.endIndex
            #expect(entry[..<end].contains("(default: \(value))"), "\(option): \(entry[..<end])")
        }
        for name in ["FETCHD_TOKEN", "FETCHD_LISTEN", "SIGTERM", "/readyz"] { #expect(text.contains(name), "\(name)") }
    }

    @Test func versionMatchesOpenAPIDescription() async throws {
        let help = try await FetchdProcess.run(["--help"])
        #expect(help.succeeded && help.output.contains("serve"))
        let version = try await FetchdProcess.run(["--version"])
        #expect(version.succeeded)
        let description = try String(contentsOf: Project.root.appending(path: "openapi.yaml"), encoding: .utf8)
        let number = version.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(description.contains("\n  version: \(number)\n"))
    }
}
