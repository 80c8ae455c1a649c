import Formats
import Foundation
import TestKit
import Testing

/// SIGHUP: the service reads its configuration file again.
@Suite struct ReloadTests {
    private let folder: TemporaryFolder
    private let file: String
    private let fetchd: FetchdProcess

    init() async throws {
        folder = try TemporaryFolder()
        file = try folder.write(
            #"{"max_concurrent_jobs": 3, "log_level": "info", "token": "s3cret-1", "stop_timeout": 20}"#,
            to: "fetchd.json")
        fetchd = try await FetchdProcess.start(.init(arguments: ["--config", file, "--max-connections-per-host", "2"]))
    }

    private var api: APIClient { APIClient(baseURL: fetchd.baseURL, token: "s3cret-1") }

    /// Replaces the file, sends the signal, and waits for a line of the log.
    private func reload(_ text: String, until line: String) async throws {
        try folder.write(text, to: "fetchd.json")
        fetchd.signal(SIGHUP)
        _ = try await eventually("the log line '\(line)'") { fetchd.log.contains(line) ? true : nil }
    }

    @Test func appliesWhatCanChangeAndNamesWhatCannot() async throws {
        try await reload(
            """
            {"max_concurrent_jobs": 5, "max_connections_per_host": 9, "log_level": "debug", "token": "s3cret-2",
             "stop_timeout": 21, "schedule": ["daily 00:00-24:00 UTC rate_limit_bytes_per_second=1Mi"]}
            """, until: "apply after a restart: stop_timeout, token.")
        let service = try await api.get("/v1/service").json
        #expect(service["max_concurrent_jobs"] == 5 && service["sources"]["max_concurrent_jobs"] == "file")
        #expect(service["effective"]["rate_limit_bytes_per_second"] == 1_048_576)
        // An option takes precedence over the file.
        #expect(service["max_connections_per_host"] == 2 && service["sources"]["max_connections_per_host"] == "flag")
        #expect(fetchd.log.contains("max_concurrent_jobs: 3 -> 5."))
        #expect(fetchd.log.contains("debug"))
        #expect(!fetchd.log.contains("s3cret"))
        // A setting that the file no longer has returns to its default, and the restart is no longer needed.
        try await reload(
            #"{"token": "s3cret-1", "stop_timeout": 20}"#, until: "max_concurrent_jobs: 5 -> 16.")
        #expect(try await api.get("/v1/service").json["effective"]["rate_limit_bytes_per_second"] == 0)
        let entries = try await api.get("/v1/audit").json["entries"].arrayValue ?? []
        let reloads = entries.filter { $0["action"] == "SIGHUP" }.map { entry in
            ["address", "target", "change"].map { entry[$0].string ?? "-" }.joined(separator: ", ")
        }
        #expect(reloads.contains("local, max_concurrent_jobs, 3 -> 5"), "\(reloads)")
        #expect(reloads.contains("local, max_concurrent_jobs, 5 -> 16"), "\(reloads)")
        fetchd.signal(SIGHUP)
        _ = try await eventually("a reload without changes") {
            fetchd.log.contains("Nothing has changed.") ? true : nil
        }
        try await fetchd.stop()
    }

    @Test(arguments: ["{", #"{"max_concurrent_jobs": 5, "max_parts": -1}"#, #"{"colour": "blue"}"#])
    func refusesAFileWithAMistakeAsAWhole(_ text: String) async throws {
        let before = try await api.get("/v1/service").json
        try await reload(text, until: "has a mistake, so nothing has changed.")
        #expect(try await api.get("/v1/service").json == before)
        try await reload(#"{"max_concurrent_jobs": 4, "token": "s3cret-1"}"#, until: "max_concurrent_jobs: 3 -> 4.")
    }

    @Test func valueOfAClientTakesPrecedenceAlsoAfterARestart() async throws {
        _ = try await api.send("PATCH", "/v1/service", ["max_concurrent_jobs": 7])
        try await reload(
            #"{"max_concurrent_jobs": 4, "token": "s3cret-1"}"#,
            until: "3 -> 4. The value that a client has set still applies.")
        #expect(try await api.get("/v1/service").json["max_concurrent_jobs"] == 7)
        try await fetchd.kill()
        try await fetchd.restart()
        #expect(try await api.get("/v1/service").json["max_concurrent_jobs"] == 7)
        let reset = try await api.send("PATCH", "/v1/service", ["max_concurrent_jobs": nil])
        #expect(reset.json["max_concurrent_jobs"] == 4)
    }
}
