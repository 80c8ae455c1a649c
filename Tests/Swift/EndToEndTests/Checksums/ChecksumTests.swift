import Formats
import HTTPSemantics
import TestKit
import Testing

/// A job's `checksum`: bytes that do not match never become a file.
@Suite struct ChecksumTests {
    private let scene: Scene
    private var api: APIClient { scene.api }
    private let other = Content.random(seed: 8, count: 200_000)

    init() async throws { scene = try await Scene() }

    @Test(arguments: Checksum.Algorithm.allCases) func succeedsWhenChecksumMatches(_ algorithm: Checksum.Algorithm)
        async throws
    {
        let value = Sums.hexadecimal(algorithm, of: scene.bytes)
        let checksum: JSON = ["algorithm": .string(algorithm.rawValue), "value": .string(value.uppercased())]
        let job = try await scene.outcome("/file", ("checksum", checksum))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
        #expect(scene.has("file", scene.bytes))
        // The checksum is part of the request and in no response.
        #expect(!job.names.contains("checksum"))
    }

    @Test(arguments: Checksum.Algorithm.allCases) func failsWithChecksumMismatch(_ algorithm: Checksum.Algorithm)
        async throws
    {
        let job = try await scene.outcome("/file", Sums.member(algorithm, of: other))
        #expect(try await scene.isGone(job), "\(job.written)")
        let message = try #require(job["failure"]["message"].string)
        for part in [
            algorithm.rawValue, "the job's checksum", Sums.hexadecimal(algorithm, of: other),
            Sums.hexadecimal(algorithm, of: scene.bytes),
        ] {
            #expect(message.contains(part), "\(message)")
        }
        // There is no second attempt: the server would send the same bytes.
        #expect(job["failure"]["attempts"] == 1)
        #expect(scene.origin.requests(to: "/file").count == 1)
        #expect(try await api.types(of: job["id"].string ?? "").suffix(2) == ["job.started", "job.failed"])
        try await scene.expectStoredParts([])
    }

    @Test func retryFetchesWholeFileAfterMismatch() async throws {
        scene.origin.serve("/f", .file(other), .serving(.file(scene.bytes)).on(2...))
        let job = try await scene.outcome("/f", Sums.member(.sha512, of: scene.bytes))
        #expect(try await scene.isGone(job))
        let id = try #require(job["id"].string)
        try await api.act(.retry, on: id)
        let done = try await api.waitForJob(id, .succeeded)
        #expect(done["resume"] == ["decision": "fresh", "why": nil, "offset": 0])
        #expect(scene.ranges("/f") == [nil, nil])
        #expect(scene.has("f", scene.bytes))
    }

    /// `digest` concerns the receipt only.
    @Test func verifiesChecksumWhenDigestIsNone() async throws {
        let none = ("digest", JSON.string("none"))
        for algorithm in [Checksum.Algorithm.sha256, .md5] {
            let wrong = try await scene.outcome("/file", none, Sums.member(algorithm, of: other))
            #expect(try await scene.isGone(wrong))
        }
        for algorithm in [Checksum.Algorithm.sha256, .md5] {
            let right = try await scene.outcome("/file", none, Sums.member(algorithm, of: scene.bytes))
            #expect(right["state"] == "succeeded")
            #expect(right["file"]["sha256"] == .null)
        }
    }

    @Test func verifiesChecksumOfEmptyFile() async throws {
        scene.origin.serve("/empty", .file([]))
        for algorithm in Checksum.Algorithm.allCases {
            let wrong = try await scene.outcome("/empty", Sums.member(algorithm, of: [0]))
            #expect(try await scene.isGone(wrong), "\(algorithm)")
        }
        for algorithm in Checksum.Algorithm.allCases {
            let right = try await scene.outcome("/empty", Sums.member(algorithm, of: []))
            #expect(right["file"]["size"] == 0, "\(algorithm)")
        }
    }

    @Test func verifiesLengthByChecksumWhenServerGivesNone() async throws {
        scene.origin.serve("/open", .file(scene.bytes), .withoutLength)
        let proven = try await scene.outcome("/open", Sums.member(.md5, of: scene.bytes))
        #expect(proven["receipt"]["length_verified"] == true)
        let unknown = try await scene.outcome("/open")
        #expect(unknown["receipt"]["length_verified"] == false)
        // The connection ended early, which only the checksum reveals.
        scene.origin.serve("/cut", .file(scene.bytes), .withoutLength, .closing(after: 150_000))
        let cut = try await scene.outcome("/cut", Sums.member(.md5, of: scene.bytes))
        #expect(cut["failure"]["code"] == "checksum_mismatch")
        #expect(scene.fetchd.downloaded("cut") == nil)
    }

    /// The existing file is replaced only by verified bytes.
    @Test func keepsReplacedFileOnMismatch() async throws {
        try scene.fetchd.folder.write("the old one", to: "downloads/file")
        let replace = ("destination", JSON.object(["on_conflict": "replace"]))
        let job = try await scene.outcome("/file", replace, Sums.member(.sha1, of: other))
        #expect(job["failure"]["code"] == "checksum_mismatch")
        #expect(scene.has("file", Array("the old one".utf8)))
        let right = try await scene.outcome("/file", replace, Sums.member(.sha1, of: scene.bytes))
        #expect(right["state"] == "succeeded")
        #expect(scene.has("file", scene.bytes))
    }

    @Test(.realProcess) func keepsChecksumAfterKill() async throws {
        let id = try await scene.heldJob(Sums.member(.sha256, of: other))
        try await scene.process.kill()
        scene.gate.open()
        try await scene.process.restart()
        let job = try await api.waitForOutcome(id)
        #expect(try await scene.isGone(job), "\(job.written)")
    }

    @Test func refusesPatchOfChecksum() async throws {
        let id = try await scene.job(in: .paused)
        let (name, value) = Sums.member(.md5, of: scene.bytes)
        let answer = try await api.patch(id, .object([name: value]))
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: "unknown-field", pointer: "/checksum"))
    }

    // MARK: Mirrors

    /// The URL that sent wrong bytes is given up; the whole file is requested from the next one.
    @Test func fetchesWholeFileFromNextURLAfterMismatch() async throws {
        scene.origin.serve("/damaged", .file(other))
        let urls = JSON.strings(["/damaged", "/file"].map(scene.origin.url))
        let order = scene.order("/file", ("url", nil), ("urls", urls), Sums.member(.sha256, of: scene.bytes))
        let job = try await api.waitForOutcome(api.submit(order))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(job["url"] == .string(scene.origin.url("/file")))
        #expect(job["resume"] == ["decision": "fresh", "why": nil, "offset": 0])
        #expect(try await scene.waits(of: job) == ["checksum_mismatch"])
        #expect(scene.ranges("/file") == [nil])
        #expect(scene.fetchd.downloaded("damaged") == nil)
        #expect(scene.has("file", scene.bytes))
        try await scene.expectStoredParts([])
    }

    /// Used together, one bad mirror spoils the file under the same ETag. Used one by one, the right one is found.
    @Test(arguments: [["/right", "/wrong"], ["/wrong", "/right"]])
    func findsRightMirrorWhenOneServesWrongBytes(_ paths: [String]) async throws {
        let (right, wrong) = (Content.random(seed: 21, count: 2_000_000), Content.random(seed: 22, count: 2_000_000))
        // Slow enough that both send bytes before one of them has sent the file.
        scene.origin.serve("/right", .file(right), .limited(bytesPerSecond: 500_000))
        scene.origin.serve("/wrong", .file(wrong), .limited(bytesPerSecond: 500_000))
        let order = scene.order(
            "/file", ("url", nil), ("urls", .strings(paths.map(scene.origin.url))), ("connections", 4),
            ("destination", ["filename": "file"]), Sums.member(.sha256, of: right))
        let job = try await api.waitForOutcome(api.submit(order))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(job["url"] == .string(scene.origin.url("/right")))
        #expect(job["resume"]["why"] == "no_validator")
        // One mismatch over several connections, one over a single connection, and one more at the next URL.
        let mismatches = paths[0] == "/right" ? 1 : 3
        #expect(try await scene.waits(of: job) == Array(repeating: "checksum_mismatch", count: mismatches))
        #expect(scene.ranges("/right").last == .some(nil))
        #expect(scene.has("file", right))
    }

    @Test func failsWhenEveryURLMismatches() async throws {
        scene.origin.serve("/damaged", .file(other))
        let urls = JSON.strings(["/damaged", "/file"].map(scene.origin.url))
        let order = scene.order("/file", ("url", nil), ("urls", urls), Sums.member(.sha256, of: []))
        let job = try await api.waitForOutcome(api.submit(order))
        #expect(try await scene.isGone(job), "\(job.written)")
        #expect(job["failure"]["attempts"] == 2)
    }

    /// The second URL completes the part without a validator, as the checksum proves the whole file.
    @Test func completesPartFromSecondURLWithoutValidator() async throws {
        scene.origin.serve("/broken", .file(scene.bytes), .closing(after: 120_000).once, .answering(404).on(2...))
        scene.origin.serve("/mirror", .file(scene.bytes, etag: nil))
        let urls = JSON.strings(["/broken", "/mirror"].map(scene.origin.url))
        let order: JSON = ["urls": urls, "retry": ["base_seconds": 0.01]]
        let (name, value) = Sums.member(.sha256, of: scene.bytes)
        let job = try await api.waitForOutcome(api.submit(order.with([name: value])))
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": 120_000])
        #expect(scene.origin.requests(to: "/mirror").map { $0.header("If-Range") } == [nil])
        #expect(scene.has("mirror", scene.bytes))

        // Without a checksum nothing proves the combined file.
        scene.origin.serve("/broken", .file(scene.bytes), .closing(after: 120_000).once, .answering(404).on(2...))
        let plain = try await api.waitForOutcome(api.submit(order))
        #expect(plain["resume"]["decision"] == "restarted")
    }
}
