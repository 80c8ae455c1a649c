import Downloads
import Formats
import HTTPSemantics
import Testing

@testable import Aria2RPC

@Suite struct DownloadOptionsTests {
    private static let root = DownloadsRoot(paths: [.default: "/srv/files"])

    private func spec(_ options: JSONObject, _ urls: [String] = ["https://host/a"]) throws(RPCError) -> JobSpec {
        try DownloadOptions(options).spec(of: urls, in: Self.root)
    }

    @Test func optionsBecomeTheSpecification() throws {
        let spec = try spec(
            [
                "dir": "/srv/files/films/new", "out": "a.mkv", "split": "5", "max-download-limit": "200K",
                "header": ["X-One: 1", "X-Two:2"], "user-agent": "agent", "referer": "*", "http-user": "me",
                "http-passwd": "secret", "checksum": "SHA-1=0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
                "max-tries": "0", "retry-wait": "3", "timeout": "20", "connect-timeout": "7",
                "allow-overwrite": "true", "pause": "true",
            ], ["https://user@host/a?b", "https://mirror/a"])
        #expect(spec.url == "https://user@host/a?b" && spec.mirrors == ["https://mirror/a"])
        #expect(spec.destination.directory == "films/new" && spec.destination.filename == "a.mkv")
        #expect(spec.destination.onConflict == .replace)
        #expect(spec.connections == 5 && spec.rateLimit == 204_800)
        #expect(
            spec.headers == [
                HeaderField(name: "X-One", value: "1"), HeaderField(name: "X-Two", value: "2"),
                HeaderField(name: "User-Agent", value: "agent"),
                HeaderField(name: "Referer", value: "https://host/a?b"),
            ])
        #expect(spec.credentials == .basic(username: "me", password: "secret"))
        #expect(spec.checksum?.value?.algorithm == .sha1)
        #expect(spec.retry?.maxAttempts == 1000 && spec.retry?.baseSeconds == 3)
        #expect(spec.timeouts == Timeouts(requestSeconds: 20, connectSeconds: 7))
    }

    @Test(arguments: [
        ("/srv/files", ""), ("/srv/files/", ""), ("/srv/./files/a/", "a"), ("/srv/files/a/b", "a/b"), ("a/b", "a/b"),
        (".", ""),
    ])
    func aDirLiesInTheDownloadsFolder(_ dir: String, _ relative: String) throws {
        let place = try Self.root.place(dir)
        #expect(place.location == nil && place.directory == relative)
    }

    private static let roots = DownloadsRoot(paths: [
        .default: "/srv/files", Name(trusted: "films"): "/mnt/films", Name(trusted: "nested"): "/srv/files/nested",
        Name(trusted: "archive"): "s3://media/films",
    ])

    @Test(arguments: [
        ("/mnt/films/a", "films", "a"), ("/srv/files/a", "default", "a"), ("/srv/files/nested/b", "nested", "b"),
        ("/srv/files/nested2", "default", "nested2"), ("a", nil, "a"),
        ("s3://media/films/a", "archive", "a"), ("s3:/a", nil, "s3:/a"),
    ])
    func theLongestFolderHasADir(_ dir: String, _ location: String?, _ directory: String) throws {
        let place = try Self.roots.place(dir)
        #expect(place.location?.text == location && place.directory == directory)
        let spec = try DownloadOptions(["dir": .string(dir)]).spec(of: ["https://host/a"], in: Self.roots)
        #expect(spec.destination.location?.text == location && spec.destination.directory == directory)
        let shown = DownloadOptionsDocument(spec: spec, root: Self.roots).document.objectValue?["dir"]
        #expect(shown == .string(location == nil ? "/srv/files/\(dir)" : dir))
        #expect(throws: RPCError.self) { try Self.roots.place("/mnt") }
        #expect(throws: RPCError.self) { try Self.roots.place("s3://media/other") }
    }

    @Test(arguments: ["/", "/srv", "/srv/files2", "/srv/files/../x", "../x", "/srv/files/.hidden", "/tmp"])
    func refusesAnotherDir(_ dir: String) {
        #expect(throws: RPCError.self) { try Self.root.place(dir) }
    }

    @Test(arguments: [
        ("split", "0"), ("split", "a"), ("max-connection-per-server", "17"), ("max-download-limit", "1G"),
        ("max-download-limit", "-1"), ("checksum", "sha-1=00"), ("checksum", "crc=00"), ("out", "/a"), ("out", "../a"),
        ("out", "a{b}"), ("header", "no colon"), ("header", "Host: x"), ("header", "A: b\r"), ("timeout", "0"),
        ("allow-overwrite", "yes"), ("all-proxy", "http://proxy:3128"), ("header", "Host: host:8080"),
        ("header", "Range: bytes=5-"), ("header", "Content-Length: 1"),
    ])
    func refusesAValue(_ name: String, _ value: String) {
        #expect(throws: RPCError.self) { try spec(JSONObject().with(name, value)) }
    }

    @Test func unknownOptionsAndOtherTypesHaveNoEffect() throws {
        let options = DownloadOptions(["bt-max-peers": "5", "split": 5, "file-allocation": "none", "bad\nname": "1"])
        #expect(options.ignoredNames == ["bt-max-peers", "file-allocation"])
        #expect(try options.spec(of: ["https://host/a"], in: Self.root) == JobSpec(url: "https://host/a"))
    }

    @Test func conflictsFollowTwoOptions() throws {
        #expect(try spec(["auto-file-renaming": "false"]).destination.onConflict == .error)
        #expect(try spec(["auto-file-renaming": "true"]).destination.onConflict == .rename)
        #expect(try spec(["allow-overwrite": "false"]).destination.onConflict == .rename)
        #expect(
            try spec(["allow-overwrite": "true", "auto-file-renaming": "false"]).destination.onConflict == .replace)
    }

    @Test func shownOptionsMakeAnEqualDownload() throws {
        let spec = try spec([
            "dir": "/srv/files/a", "out": "b", "split": "3", "max-download-limit": "1M", "header": "X-One: 1",
            "user-agent": "agent", "timeout": "20", "connect-timeout": "7", "max-tries": "3", "retry-wait": "2",
            "auto-file-renaming": "false",
        ])
        let shown = DownloadOptionsDocument(spec: spec, root: Self.root).document
        var again = try DownloadOptions(try #require(shown.objectValue)).spec(of: [spec.url], in: Self.root)
        again.destination = spec.destination
        #expect(again == spec)
    }

    @Test func shownOptionsNameNoGID() throws {
        let shown = DownloadOptionsDocument(spec: try spec(["gid": "00000000000000ff"]), root: Self.root).document
        #expect(shown.objectValue?["gid"] == nil)
    }

    @Test func shownOptionsOfAnotherInterfaceCanBeUsedAgain() throws {
        var spec = try spec([:])
        spec.timeouts.requestSeconds = 3600
        spec.retry = RetryPolicy()
        spec.retry?.baseSeconds = 900
        spec.destination.filename = "{basename}.{extension}"
        let shown = DownloadOptionsDocument(spec: spec, root: Self.root).document
        let again = try DownloadOptions(try #require(shown.objectValue)).spec(of: [spec.url], in: Self.root)
        #expect(again.timeouts.requestSeconds == 600 && again.retry?.baseSeconds == 600)
        #expect(again.destination.filename == nil)
    }

    @Test(arguments: [
        "Connection: keep-alive", "connection: close", "Accept-Encoding: gzip, br", "Host: host", "Host: HOST:443",
        "Keep-Alive: timeout=5", "TE: trailers", "Upgrade: h2c", "Range: bytes=0-",
    ])
    func aFieldOfTheBrowsersConnectionHasNoEffect(_ line: String) throws {
        let headers = try spec(["header": [.string(line), "X-One: 1"]]).headers
        #expect(headers == [HeaderField(name: "X-One", value: "1")])
    }

    @Test func linesOfOneNameBecomeOneField() throws {
        let headers = try spec(["header": ["Cookie: a=1", "X-One: 1", "cookie: b=2", "x-one: 2"]]).headers
        #expect(
            headers == [HeaderField(name: "Cookie", value: "a=1; b=2"), HeaderField(name: "X-One", value: "1, 2")])
    }

    @Test func aLineCountsMoreThanItsOption() throws {
        let headers = try spec([
            "header": "user-agent: browser", "user-agent": "option", "referer": "http://from/",
        ]).headers
        #expect(
            headers == [
                HeaderField(name: "user-agent", value: "browser"), HeaderField(name: "Referer", value: "http://from/"),
            ])
    }

    @Test(
        arguments: [("true", true), ("", true), ("false", false), ("yes", nil), (nil, false)] as [(String?, Bool?)])
    func aDownloadCanBeginPaused(_ value: String?, _ isPaused: Bool?) throws {
        var options = JSONObject()
        if let value { options["pause"] = .string(value) }
        #expect((try? DownloadOptions(options).isPaused) == isPaused)
    }

    @Test func urisAreTrimmedAndEscaped() {
        let uris = DownloadOptions.distinct([" https://host/a b\n", "", "  ", "https://host/a%20b", "https://host/c"])
        #expect(uris == ["https://host/a%20b", "https://host/c"])
    }

    @Test func secretsAreNotShown() throws {
        let spec = try spec(["header": ["Cookie: c=1", "X-One: 1"], "http-user": "me", "http-passwd": "hidden"])
        let shown = DownloadOptionsDocument(spec: spec, root: Self.root).document.written
        #expect(shown.contains("X-One") && !shown.contains("Cookie") && !shown.contains("hidden"))
    }

    @Test(
        arguments: [
            ("0", 0), ("1048576", 1_048_576), ("1M", 1_048_576), ("200k", 204_800), ("", nil), ("M", nil), ("-1", nil),
            ("1.5M", nil), ("9223372036854775807K", nil), ("1 K", nil),
        ] as [(String, Int64?)])
    func readsSizes(_ text: String, _ bytes: Int64?) {
        #expect(SizeText.bytes(text) == bytes)
    }

    @Test func readsGlobalOptions() throws {
        let options = DownloadOptions(
            ["max-concurrent-downloads": "3", "max-overall-download-limit": "1K", "log": "-"], isGlobal: true)
        #expect(try options.serviceLimits == ServiceLimits.Change(maxConcurrentJobs: 3, rateLimit: 1024))
        #expect(options.ignoredNames == ["log"])
        #expect(throws: RPCError.self) {
            try DownloadOptions(["max-concurrent-downloads": "0"], isGlobal: true).serviceLimits
        }
        let unlimited = DownloadOptions(["max-overall-download-limit": "0"], isGlobal: true)
        #expect(try unlimited.serviceLimits == ServiceLimits.Change(rateLimit: 0))
        #expect(try DownloadOptions(["log": "-"], isGlobal: true).serviceLimits == ServiceLimits.Change())
    }
}

extension JSONObject {
    fileprivate func with(_ name: String, _ value: String) -> JSONObject {
        var object = self
        object[name] = .string(value)
        return object
    }
}
