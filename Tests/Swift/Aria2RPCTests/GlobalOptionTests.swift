import Downloads
import Formats
import HTTPSemantics
import Testing

@testable import Aria2RPC

/// What the options of downloads mean for the configuration of the session.
@Suite struct GlobalOptionTests {
    private let root = DownloadsRoot(paths: [.default: "/downloads"])

    private func changed(
        _ options: JSONObject, from present: SessionConfiguration = .init()
    ) throws(RPCError) -> SessionConfiguration {
        var configuration = present
        try DownloadOptions(options, isGlobal: true).change(&configuration, in: root)
        return configuration
    }

    @Test func eachOptionIsStored() throws {
        let configuration = try changed([
            "dir": "/downloads/films", "split": "4", "user-agent": "agent/1", "max-tries": "3", "retry-wait": "7",
            "timeout": "20", "connect-timeout": "5", "allow-overwrite": "true", "all-proxy": "proxy.example:3128",
            "header": ["X-A: 1", "X-B: 2"], "referer": "https://a.example/",
        ])
        #expect(configuration.directory == "films" && configuration.connections == 4)
        #expect(configuration.userAgent == "agent/1")
        #expect(configuration.retry?.maxAttempts == 3 && configuration.retry?.baseSeconds == 7)
        #expect(configuration.timeouts.requestSeconds == 20 && configuration.timeouts.connectSeconds == 5)
        #expect(configuration.onConflict == .replace)
        #expect(configuration.proxy == Proxy("http://proxy.example:3128"))
        #expect(configuration.headers.map(\.name) == ["X-A", "X-B", "Referer"])
    }

    @Test func otherMembersStayAsTheyAre() throws {
        var present = SessionConfiguration()
        present.retry = RetryPolicy()
        present.retry?.maxSeconds = 60
        present.timeouts.resourceSeconds = 9
        present.priority = .high
        present.proxy = Proxy("socks5://proxy.example:1080")
        let configuration = try changed(["max-tries": "2", "timeout": "30"], from: present)
        #expect(configuration.retry?.maxSeconds == 60 && configuration.retry?.maxAttempts == 2)
        #expect(configuration.timeouts.resourceSeconds == 9 && configuration.priority == .high)
        #expect(configuration.proxy == present.proxy)
        #expect(try changed(["all-proxy": ""], from: present).proxy == nil)
    }

    /// As in aria2, what only one download can have has no effect; what fetchd does not know is ignored.
    @Test(arguments: ["out", "gid", "checksum", "pause", "log", "max-overall-upload-limit", "bt-tracker"])
    func hasNoEffect(_ option: String) throws {
        #expect(try changed([option: "true"]) == SessionConfiguration())
    }

    @Test(
        arguments: [
            ("dir", "/elsewhere"), ("split", "0"), ("max-connection-per-server", "17"), ("max-download-limit", "1M"),
            ("max-tries", "x"), ("timeout", "0"), ("allow-overwrite", "maybe"), ("all-proxy", "ftp://proxy:1"),
            ("http-proxy", "http://proxy:1"), ("https-proxy", "http://proxy:1"), ("http-user", "u"),
            ("http-passwd", "p"), ("dry-run", "true"), ("referer", "*"), ("user-agent", "a\nb"), ("header", "no colon"),
        ])
    func isRefused(_ option: String, _ value: String) {
        #expect(throws: RPCError.self) { try changed([option: .string(value)]) }
    }

    @Test(arguments: [("max-download-limit", "0"), ("http-proxy", ""), ("dry-run", "false")])
    func maySayThatThereIsNone(_ option: String, _ value: String) throws {
        #expect(try changed([option: .string(value)]) == SessionConfiguration())
    }
}
