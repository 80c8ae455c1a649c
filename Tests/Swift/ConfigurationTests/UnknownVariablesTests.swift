import Configuration
import Testing

/// Which variables of the environment look like misspelled settings.
@Suite struct UnknownVariablesTests {
    private static let settings = [
        "FETCHD_LISTEN", "FETCHD_DATA_DIR", "FETCHD_DOWNLOADS_DIR", "FETCHD_DOWNLOADS", "FETCHD_STORE", "FETCHD_TOKEN",
        "FETCHD_MAX_CONCURRENT_JOBS", "FETCHD_MAX_PARTS", "FETCHD_RATE_LIMIT_BYTES_PER_SECOND",
        "FETCHD_EVENT_RETENTION",
        "FETCHD_ALLOW_ORIGIN_PORT", "FETCHD_ALLOW_NETWORK", "FETCHD_LOG_LEVEL", "FETCHD_PUBLIC_HOST", "FETCHD_CONFIG",
        "FETCHD_ARIA2_SESSION",
    ]

    private func unknown(_ environment: [String: String]) -> UnknownVariables {
        UnknownVariables(in: environment, besides: Self.settings)
    }

    @Test(arguments: [
        ("FETCHD_MAX_CONCURENT_JOBS", "FETCHD_MAX_CONCURRENT_JOBS"), ("FETCHD_MAX_JOBS", "FETCHD_MAX_CONCURRENT_JOBS"),
        ("FETCHD_LITSEN", "FETCHD_LISTEN"), ("FETCHD_DOWNLOAD_DIR", "FETCHD_DOWNLOADS_DIR"),
        ("FETCHD_DATADIR", "FETCHD_DATA_DIR"), ("FETCHD_LOGLEVEL", "FETCHD_LOG_LEVEL"),
        ("FETCHD_RATE_LIMIT", "FETCHD_RATE_LIMIT_BYTES_PER_SECOND"), ("FETCHD_ALLOW_NETWORKS", "FETCHD_ALLOW_NETWORK"),
        ("FETCHD_TOKENS", "FETCHD_TOKEN"), ("FETCHD_log_level", nil),
    ])
    func namesNearestSetting(_ name: String, _ nearest: String?) {
        let unknown = unknown([name: "1", "HOME": "/", "FETCHD_LISTEN": "none"])
        #expect(unknown.variables.map(\.name) == (nearest == nil ? [] : [name]))
        #expect(unknown.variables.map(\.nearest) == [nearest].compactMap(\.self))
        #expect(unknown.warning?.contains("Did you mean \(nearest ?? "")?") == (nearest == nil ? nil : true))
    }

    /// Kubernetes sets variables for each service of a namespace (docs: "Discovering services").
    @Test(arguments: [
        ("FETCHD_PORT", "tcp://10.0.0.1:8080"), ("FETCHD_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("FETCHD_PORT_8080_TCP_ADDR", "10.0.0.1"), ("FETCHD_PORT_8080_TCP_PORT", "8080"),
        ("FETCHD_PORT_8080_TCP_PROTO", "tcp"), ("FETCHD_SERVICE_HOST", "10.0.0.1"), ("FETCHD_SERVICE_PORT", "8080"),
        ("FETCHD_SERVICE_PORT_HTTP", "8080"), ("FETCHD_STORES_SERVICE_HOST", "10.0.0.2"),
        ("FETCHD_STORES_PORT", "tcp://10.0.0.2:5432"), ("FETCHD_STORES_PORT_5432_TCP", "tcp://10.0.0.2:5432"),
        ("FETCHD_ORIGIN_PORT", "tcp://10.0.0.3:80"),
        // Of the commands, of programs for events, and of tests.
        ("FETCHD_URL", "http://h"), ("FETCHD_CA_FILE", "f"), ("FETCHD_EVENT", "412"), ("FETCHD_PATH", "/x"),
        ("FETCHD_JOB", "job_1"), ("FETCHD_SESSION", "films"), ("FETCHD_STATE", "succeeded"),
        ("FETCHD_TYPE", "job.failed"),
        ("FETCHD_BIN", "/usr/bin/fetchd"), ("FETCHD_TEST_STORE", "x"), ("FETCHD_EXCHANGES", "/tmp"),
        ("FETCHD_PROPERTY_SEED", "1"), ("FETCHD_FAST_TESTS", "1"), ("FETCHD_", "x"), ("FETCHDLISTEN", "x"),
    ])
    func isSilentAboutVariablesOfOthers(_ name: String, _ value: String) {
        #expect(unknown([name: value]).warning == nil)
    }

    @Test func warnsOnce() throws {
        let warning = try #require(unknown(["FETCHD_LITSEN": "x", "FETCHD_DATADIR": "y"]).warning)
        #expect(warning.contains("FETCHD_DATADIR (did you mean FETCHD_DATA_DIR?), FETCHD_LITSEN (did you mean"))
    }
}
