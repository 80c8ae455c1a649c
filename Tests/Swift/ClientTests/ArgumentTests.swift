import Formats
import Foundation
import Testing

@testable import Client

/// Parsing of command-line arguments.
@Suite struct ArgumentTests {
    @Test(arguments: [
        ("500", 500), ("500K", 500_000), ("2m", 2_000_000), ("1.5Gi", 1_610_612_736), ("1T", 1_000_000_000_000),
    ])
    func parsesByteCount(_ text: String, _ count: Int64) {
        #expect(ByteCount(argument: text)?.count == count)
        #expect(Removable<ByteCount>(argument: text)?.json { .integer($0.count) } == .integer(Int64(count)))
    }

    @Test(arguments: ["", "K", "0", "-1", "1KB", "nan", "inf", "0.1", "1e30"])
    func refusesInvalidByteCount(_ text: String) {
        #expect(ByteCount(argument: text) == nil)
        #expect(Removable<ByteCount>(argument: text) == nil)
    }

    @Test func parsesNoneAsNoLimit() {
        #expect(Removable<ByteCount>(argument: "none")?.json { .integer($0.count) } == .null)
    }

    private static let sum = String(repeating: "aB", count: 32)

    @Test(arguments: [
        ("sha-256:\(sum)", "sha-256"), ("sha256:\(sum)", "sha-256"), ("SHA256:\(sum)", "sha-256"), (sum, "sha-256"),
        ("sha1:\(sum.prefix(40))", "sha-1"), ("\(sum.prefix(32))", "md5"), ("sha-512:\(sum)\(sum)", "sha-512"),
    ])
    func parsesChecksumWithOrWithoutAlgorithm(_ text: String, _ algorithm: String) {
        let checksum = ChecksumArgument(argument: text)
        #expect(checksum?.algorithm == algorithm)
        #expect(checksum?.value == text.split(separator: ":").last?.lowercased())
    }

    @Test(arguments: [
        "", "sha-256:", "sha-256:abc", "sha-3:\(sum)", "md5:\(sum)", "\(sum)0", "sha-256:\(sum.dropLast())g",
    ])
    func refusesInvalidChecksum(_ text: String) { #expect(ChecksumArgument(argument: text) == nil) }

    @Test func splitsOutPathIntoDirectoryAndFilename() {
        let file = NewDestination(path: "videos/2019/film.mkv", onConflict: .replace)
        #expect(file?.directory == "videos/2019" && file?.filename == "film.mkv" && file?.onConflict == "replace")
        let folder = NewDestination(path: "videos/", onConflict: nil)
        #expect(folder?.directory == "videos" && folder?.filename == nil)
        let name = NewDestination(path: "film.mkv", onConflict: nil)
        #expect(name?.directory == nil && name?.filename == "film.mkv")
        #expect(NewDestination(path: nil, onConflict: nil) == nil)
    }

    @Test func parsesHeader() {
        let header = HeaderArgument(argument: "Referer: https://example.org/")
        #expect(header?.name == "Referer" && header?.value == "https://example.org/")
        #expect(HeaderArgument(argument: "X-Empty:")?.value == "")
        #expect(HeaderArgument(argument: "no colon") == nil && HeaderArgument(argument: ": x") == nil)
    }

    @Test func readsURLListWithLineNumbers() {
        let text = "# mine\nhttps://a.example/1#part\r\n\n  https://a.example/2  \n#https://a.example/3"
        let urls = [
            ListedURL(text: "https://a.example/1#part", place: "list, line 2"),
            ListedURL(text: "https://a.example/2", place: "list, line 4"),
        ]
        #expect(ListedURL.read(text, of: "list") == urls)
        #expect(ListedURL.read("\u{FEFF}" + text, of: "list") == urls)
        #expect(ListedURL.read("\u{FEFF}https://a.example/", of: "list").map(\.text) == ["https://a.example/"])
    }

    /// The service counts jobs; the message counts lines of the file.
    @Test func namesLineOfRefusedURL() throws {
        let urls = ListedURL.read("https://a.example/1\n\nnonsense", of: "list")
        func sentence(_ detail: String, _ pointer: String) throws -> String {
            let text = #"{"title":"Invalid","status":422,"detail":"\#(detail)","pointer":"\#(pointer)"}"#
            let problem = try JSON(document: text.utf8).decoded(ProblemDocument.self)
            return ClientError(refusal: problem, bytes: [], httpStatus: 422).naming(urls).sentence
        }
        #expect(
            try sentence("`jobs.1.url` is not an absolute URL.", "/jobs/1/url")
                == "list, line 3: nonsense: `url` is not an absolute URL.")
        // A fault that concerns every job names no line.
        #expect(try sentence("`jobs.0.deadline` is no time.", "/jobs/0/deadline") == "`deadline` is no time.")
        #expect(try sentence("It is wrong.", "/jobs/7/url") == "It is wrong. (in /jobs/7/url)")
        #expect(
            try sentence("There is no session x. Declare it first, with PUT /v1/sessions/x.", "/jobs/0/session")
                == "There is no session x. Declare it first: fetchd session set x.")
    }

    @Test func encodesRequestPath() {
        let path = RequestPath("sessions", "a b/c?d", "webhooks", "..").query("tag", "ä&=").query("state", String?.none)
        #expect(path.text == "/v1/sessions/a%20b%2Fc%3Fd/webhooks/%2E%2E?tag=%C3%A4%26%3D")
    }

    @Test(arguments: [
        ("90d", "2019-11-17T15:23:14.000Z"), ("1s", "2019-08-19T15:23:15.000Z"), ("30m", "2019-08-19T15:53:14.000Z"),
        ("12h", "2019-08-20T03:23:14.000Z"), ("2w", "2019-09-02T15:23:14.000Z"), ("90", "2019-08-19T15:24:44.000Z"),
        ("2030-01-31T00:00:00Z", "2030-01-31T00:00:00Z"),
    ])
    func readsExpiry(_ text: String, _ time: String) throws {
        let now = try #require(Date(rfc3339: "2019-08-19T15:23:14Z"))
        #expect(ExpiryArgument(argument: text)?.time(from: now) == time)
    }

    @Test(arguments: ["", "d", "0", "0d", "-1d", "90 d", "1y", "9999999d", "tomorrow"])
    func refusesOtherExpiry(_ text: String) { #expect(ExpiryArgument(argument: text) == nil) }

    @Test func readsMomentsInLocalTime() throws {
        let now = try #require(Date(rfc3339: "2030-01-31T11:00:00Z"))
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        #expect(MomentArgument("22:00", now: now, zone: zone)?.time == "2030-01-31T21:00:00.000Z")
        #expect(MomentArgument("2030-02-01 06:00", now: now, zone: zone)?.time == "2030-02-01T05:00:00.000Z")
        // As it was given.
        #expect(MomentArgument("2030-02-01T06:00:00+02:00", now: now)?.time == "2030-02-01T06:00:00+02:00")
        #expect(MomentArgument(argument: "8h") == nil)
        #expect(Removable<MomentArgument>(argument: "none")?.json { .string($0.time) } == .null)
        #expect(Removable<MomentArgument>(argument: "tomorrow") == nil)
    }

    @Test(arguments: [("60", 60), ("0.5", 0.5), ("90s", 90), ("15m", 900), ("30d", 2_592_000)])
    func readsDurations(_ text: String, _ seconds: Double) {
        #expect(DurationArgument(argument: text)?.seconds == seconds)
    }

    @Test(arguments: ["", "0", "-1", "1h30m", "1e9", "soon", "9999999d"])
    func refusesOtherDurations(_ text: String) { #expect(DurationArgument(argument: text) == nil) }
}
