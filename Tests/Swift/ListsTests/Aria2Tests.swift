import Formats
import Foundation
import Testing

@testable import Lists

/// Session files of aria2, and the jobs that they become.
@Suite struct Aria2Tests {
    private func job(
        _ options: [(String, String)] = [], uris: [String] = ["https://h/a.iso"], base: String? = nil
    ) throws -> Aria2Conversion.Result {
        let entry = Aria2Entry(line: 1, uris: uris, options: options.map { .init(name: $0.0, value: $0.1) })
        return try Aria2Conversion(base: base).job(entry)
    }

    @Test func readsEntriesWithMirrorsAndOptions() {
        let (entries, stray) = Aria2Entry.read(
            """
            # comment
            https://a/1\thttps://b/1\t
             gid=0123456789abcdef
             dir=/srv/x
            \theader=A: 1
             header=B: 2

            https://a/2
             out=two = 2.bin
             nonsense
            """)
        #expect(entries.map(\.uris) == [["https://a/1", "https://b/1"], ["https://a/2"]])
        #expect(entries.map(\.line) == [2, 8])
        #expect(entries[0].options.map(\.name) == ["gid", "dir", "header", "header"])
        #expect(entries[0].options.map(\.value) == ["0123456789abcdef", "/srv/x", "A: 1", "B: 2"])
        #expect(entries[1]["out"] == "two = 2.bin")
        #expect(stray == [10])
    }

    @Test func readsCarriageReturnsAndAnEmptyFile() {
        #expect(Aria2Entry.read("https://a/1\r\n gid=1\r\n").entries[0]["gid"] == "1")
        #expect(Aria2Entry.read("").entries.isEmpty)
        #expect(Aria2Entry.read(" gid=1\n").strayLines == [1])
    }

    @Test func takesOverEveryOptionWithACounterpart() throws {
        let result = try job(
            [
                ("gid", "00aa"), ("dir", "/srv/aria2/films/new"), ("out", "a.iso"), ("header", "X-A: 1"),
                ("header", "X-B: 2"), ("referer", "https://r/"), ("user-agent", "me"), ("http-user", "u"),
                ("http-passwd", "p"), ("checksum", "sha-1=\(String(repeating: "ab", count: 20))"), ("split", "64"),
                ("max-download-limit", "100K"), ("max-tries", "3"), ("timeout", "20"), ("connect-timeout", "5"),
                ("allow-overwrite", "true"), ("pause", "true"), ("continue", "true"),
            ], base: "/srv/aria2/")
        #expect(result.unknown.isEmpty && result.remarks.isEmpty)
        #expect(result.isPaused)
        #expect(result.origin == "aria2:00aa")
        let body = JSON.object(result.body)
        let expected: JSON = [
            "url": "https://h/a.iso", "connections": 16, "rate_limit_bytes_per_second": 102_400,
            "checksum": ["algorithm": "sha-1", "value": .string(String(repeating: "ab", count: 20))],
            "destination": ["directory": "films/new", "filename": "a.iso", "on_conflict": "replace"],
            "headers": ["Referer": "https://r/", "User-Agent": "me", "X-A": "1", "X-B": "2"],
            "credentials": ["type": "basic", "username": "u", "password": "p"],
            "timeouts": ["request_seconds": 20.0, "connect_seconds": 5.0], "retry": ["max_attempts": 3],
        ]
        #expect(body == expected, "\(body.written)")
    }

    @Test func keepsMirrorsAndLeavesOtherSchemesOut() throws {
        let result = try job(uris: ["https://a/1", "ftp://b/1", "http://c/1"])
        #expect(result.body["urls"] == ["https://a/1", "http://c/1"])
        #expect(result.remarks == ["1 addresses that are not http or https are left out."])
    }

    @Test(arguments: [["magnet:?xt=urn:btih:1"], ["ftp://h/1"], ["/srv/x.torrent"], []])
    func refusesOtherDownloads(_ uris: [String]) {
        #expect(throws: ListFault.self) { try job(uris: uris) }
    }

    @Test func namesOptionsWithoutACounterpartOnce() throws {
        let result = try job([("bt-tracker", "x"), ("all-proxy", "http://p"), ("bt-tracker", "y")])
        #expect(result.unknown == ["bt-tracker", "all-proxy"])
    }

    @Test(
        arguments: [
            (nil, "/srv/x", nil), ("/srv", "/srv/x", "x"), ("/srv/", "/srv", nil), ("/srv", "/server/x", nil),
            ("/", "/srv/x", "srv/x"),
        ] as [(String?, String, String?)])
    func mapsTheFolder(_ base: String?, _ folder: String, _ directory: String?) throws {
        let result = try job([("dir", folder)], base: base)
        #expect(result.body["destination"]?.objectValue?["directory"]?.stringValue == directory)
    }

    @Test func splitsFoldersOffTheName() throws {
        let result = try job([("dir", "/srv"), ("out", "./a/b.bin")], base: "/srv")
        #expect(result.body["destination"] == ["filename": "b.bin", "directory": "a"])
    }

    @Test func leavesInvalidValuesOutAndSaysSo() throws {
        let result = try job([("max-download-limit", "fast"), ("checksum", "adler32=1"), ("header", "nothing")])
        #expect(result.remarks.count == 3)
        #expect(result.body.names == ["url"])
    }

    @Test(
        arguments: [
            ("0", 0), ("100", 100), ("1K", 1024), ("2m", 2_097_152), ("", nil), ("K", nil), ("-1", nil), ("1G", nil),
            ("9223372036854775807M", nil),
        ] as [(String, Int64?)])
    func readsSizes(_ text: String, _ bytes: Int64?) {
        #expect(Aria2Size.bytes(text) == bytes)
    }
}
