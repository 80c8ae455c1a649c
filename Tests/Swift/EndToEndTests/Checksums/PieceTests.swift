import Base
import Formats
import Foundation
import HTTPSemantics
import TestKit
import Testing

/// Digests of pieces: the wrong bytes of a file are fetched again, and no others.
@Suite struct PieceTests {
    private let scene: Scene
    private var api: APIClient { scene.api }
    private var bytes: [UInt8] { scene.bytes }
    private static let length = 30_000

    init() async throws { scene = try await Scene() }

    private func pieces(of bytes: [UInt8], _ algorithm: Checksum.Algorithm = .sha256) -> (String, JSON) {
        let digests = stride(from: 0, to: bytes.count, by: Self.length).flatMap {
            Sums.bytes(algorithm, of: Array(bytes[$0..<min($0 + Self.length, bytes.count)]))
        }
        return (
            "pieces",
            [
                "algorithm": .string(algorithm.rawValue), "length": .count(Self.length),
                "digests": .string(Data(digests).base64EncodedString()),
            ]
        )
    }

    /// The file with one bit changed.
    private func flipped(_ places: Int...) -> [UInt8] {
        var flipped = bytes
        for place in places { flipped[place] ^= 1 }
        return flipped
    }

    /// The validators of the server make no difference: the digests show which bytes are right.
    @Test(arguments: ["\"v1\"", "W/\"v1\"", nil]) func fetchesOnlyTheWrongPieceAgain(_ etag: String?) async throws {
        scene.origin.serve(
            "/f", .file(flipped(70_000), etag: etag), .serving(.file(bytes, etag: etag)).on(2...))
        for members in [[pieces(of: bytes), Sums.member(.sha512, of: bytes)], [pieces(of: bytes, .sha1)]] {
            let before = scene.origin.requests(to: "/f").count
            let path = before == 0 ? "/f" : "/g"
            if path == "/g" {
                scene.origin.serve(
                    "/g", .file(flipped(70_000), etag: etag), .serving(.file(bytes, etag: etag)).on(2...))
            }
            let job = try await scene.outcome(path, members[0], members.last ?? members[0])
            #expect(job["state"] == "succeeded", "\(job.written)")
            #expect(scene.ranges(path) == [nil, "bytes=60000-89999"])
            #expect(scene.has(String(path.dropFirst()), bytes))
            #expect(job["receipt"]["verified_by"] == [members.count == 2 ? "checksum" : "pieces"])
            #expect(job["receipt"]["length_verified"] == true)
            #expect(try await scene.waits(of: job) == ["checksum_mismatch"])
        }
    }

    @Test func fetchesEachWrongPiece() async throws {
        scene.origin.serve("/f", .file(flipped(0, 59_999, 199_999)), .serving(.file(bytes)).on(2...))
        let job = try await scene.outcome("/f", pieces(of: bytes), Sums.member(.sha256, of: bytes))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(Set(scene.ranges("/f")) == [nil, "bytes=0-59999", "bytes=180000-199999"])
        #expect(scene.has("f", bytes))
    }

    @Test func endsIfThePieceStaysWrong() async throws {
        scene.origin.serve("/f", .file(flipped(70_000)))
        for members in [[pieces(of: bytes), Sums.member(.sha256, of: bytes)], [pieces(of: bytes)]] {
            let job = try await scene.outcome("/f", members[0], members.last ?? members[0])
            #expect(try await scene.isGone(job), "\(job.written)")
            #expect(job["failure"]["attempts"] == 2)
        }
        #expect(scene.ranges("/f") == [nil, "bytes=60000-89999", nil, "bytes=60000-89999"])
    }

    /// Another file has no right piece, and one of another size has no such pieces.
    @Test func fetchesNothingOfAnotherFileAgain() async throws {
        scene.origin.serve("/other", .file(Content.random(seed: 9, count: bytes.count)))
        scene.origin.serve("/short", .file(Array(bytes.dropLast(30_000))))
        for path in ["/other", "/short"] {
            let job = try await scene.outcome(path, pieces(of: bytes))
            #expect(try await scene.isGone(job), "\(job.written)")
            #expect(scene.ranges(path) == [nil])
        }
    }

    @Test func theRightPiecesSurviveAKill() async throws {
        let cli = try await FetchdProcess.start(.init())
        scene.origin.serve(
            "/f", .file(flipped(70_000)),
            .serving(.file(bytes)).on(2...), .waiting(at: 10_000, for: scene.gate).on(2...2))
        var order: JSONObject = ["url": .string(scene.origin.url("/f")), "retry": ["base_seconds": 0.01]]
        for (name, value) in [pieces(of: bytes), Sums.member(.sha256, of: bytes)] { order[name] = value }
        let id = try await cli.api.submit(.object(order))
        _ = try await eventually("the piece to be requested") {
            scene.origin.requests(to: "/f").count == 2 ? true : nil
        }
        try await cli.kill()
        scene.gate.open()
        try await cli.restart()
        let job = try await cli.api.waitForJob(id, .succeeded)
        #expect(cli.downloaded("f") == bytes, "\(job.written)")
        let ranges = scene.ranges("/f")
        #expect(ranges.count == 3 && ranges[2]?.hasSuffix("-89999") == true, "\(ranges)")
    }

    @Test func readsThePiecesOfAMetalink() async throws {
        scene.origin.serve("/f", .file(flipped(70_000), etag: nil), .serving(.file(bytes, etag: nil)).on(2...))
        let hashes = stride(from: 0, to: bytes.count, by: Self.length).map {
            "<hash>\(SHA.hexadecimal(of: Array(bytes[$0..<min($0 + Self.length, bytes.count)])))</hash>"
        }
        let document = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><size>\(bytes.count)</size>
            <hash type="sha-256">\(SHA.hexadecimal(of: bytes))</hash>
            <pieces type="sha-256" length="\(Self.length)">\(hashes.joined())</pieces>
            <url>\(scene.origin.url("/f"))</url></file></metalink>
            """
        let id = try await api.submit(["metalink": .string(document), "retry": ["base_seconds": 0.01]])
        let job = try await api.waitForJob(id, .succeeded)
        #expect(scene.ranges("/f") == [nil, "bytes=60000-89999"], "\(job.written)")
        #expect(scene.has("f", bytes))
    }

    @Test(arguments: [
        #"{"length": 1, "digests": "AAAA"}"#, #"{"algorithm": "md5", "digests": "AAAA"}"#,
        #"{"algorithm": "md5", "length": 1}"#,
        #"{"algorithm": "md5", "length": 0, "digests": "AAAAAAAAAAAAAAAAAAAAAA=="}"#,
        #"{"algorithm": "md5", "length": 1, "digests": ""}"#, #"{"algorithm": "md5", "length": 1, "digests": "AAAA"}"#,
        #"{"algorithm": "md5", "length": 1, "digests": "?"}"#,
    ]) func refusesWhatAreNoPieces(_ pieces: String) async throws {
        let answer = try await api.post(
            "/v1/jobs", ["url": .string(scene.origin.url("/f")), "pieces": try JSON(parsing: Array(pieces.utf8))])
        #expect(answer.status == 422 && answer.json["pointer"].string?.hasPrefix("/pieces/") == true)
    }
}
