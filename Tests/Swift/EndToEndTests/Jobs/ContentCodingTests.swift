import Base
import Formats
import Foundation
import TestKit
import Testing

/// Bodies that a server has compressed, although fetchd asks for them as they are.
@Suite struct ContentCodingTests {
    private let scene: Scene
    private var api: APIClient { scene.api }
    private var coded: [UInt8] { Gzip.member(of: scene.bytes) }

    init() async throws {
        scene = try await Scene()
        scene.origin.serve("/f.tar", .file(scene.bytes), .gzipped)
    }

    private func download(_ path: String = "/f.tar", _ members: (String, JSON)...) async throws -> JSON {
        try await outcome(path, members)
    }

    private func outcome(_ path: String, _ members: [(String, JSON)]) async throws -> JSON {
        var order: JSONObject = [
            "url": .string(scene.origin.url(path)), "retry": ["base_seconds": 0.01, "max_attempts": 3],
        ]
        for (name, value) in members { order[name] = value }
        return try await api.waitForOutcome(try await api.submit(.object(order)))
    }

    private func failure(_ path: String, _ members: (String, JSON)...) async throws -> JSON {
        try await outcome(path, [("decode", true)] + members)["failure"]
    }

    @Test func saysThatFileIsCoded() async throws {
        let job = try await download()
        #expect(job["state"] == "succeeded")
        #expect(scene.fetchd.downloaded("f.tar") == coded)
        #expect(
            job["receipt"]["coding"] == [
                "name": "gzip", "decoded": false, "size": .count(coded.count),
                "sha256": .string(SHA.hexadecimal(of: coded)),
            ])
        #expect(try await download("/file")["receipt"]["coding"] == .null)
    }

    @Test(arguments: [[], [OriginBehaviour.chunked()], [.unframed, .closingConnection]])
    func decodesWhileWriting(_ behaviours: [OriginBehaviour]) async throws {
        scene.origin.serve("/f.tar", .file(scene.bytes), [.gzipped] + behaviours)
        let job = try await download("/f.tar", ("decode", true), ("expected_size", .count(scene.bytes.count)))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.fetchd.downloaded("f.tar") == scene.bytes)
        #expect(job["file"]["size"] == .count(scene.bytes.count))
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
        #expect(job["progress"]["fraction"] == 1)
        #expect(
            job["receipt"]["coding"] == [
                "name": "gzip", "decoded": true, "size": .count(coded.count),
                "sha256": .string(SHA.hexadecimal(of: coded)),
            ])
    }

    /// A thousand times smaller than its content.
    @Test func decodesCompressedBody() async throws {
        let program = """
            import base64, gzip, sys
            sys.stdout.write(base64.b64encode(gzip.compress(bytes(20_000_000))).decode())
            """
        let output = try await ChildProcess.run("/usr/bin/python3", ["-c", program]).output
        let bytes = Array(try #require(Data(base64Encoded: output)))
        scene.origin.serve("/zeros", .file(bytes, headers: [("Content-Encoding", "x-gzip")]))
        let job = try await download("/zeros", ("decode", true))
        #expect(scene.fetchd.downloaded("zeros") == [UInt8](repeating: 0, count: 20_000_000))
        #expect(job["receipt"]["coding"]["size"] == .count(bytes.count))
    }

    @Test func takesSettingOfSessionUnlessJobHasItsOwn() async throws {
        try await api.declareSession("s", ["decode": true])
        #expect(try await api.session("s")["configuration"]["decode"] == true)
        #expect(try await api.session("default")["configuration"]["decode"] == false)
        let job = try await download("/f.tar", ("session", "s"))
        #expect(job["receipt"]["coding"]["decoded"] == true)
        let other = try await download("/f.tar", ("session", "s"), ("decode", false))
        #expect(other["receipt"]["coding"]["decoded"] == false)
    }

    /// The decoded bytes have no offset in the server's file.
    @Test func restartsInsteadOfResuming() async throws {
        scene.origin.serve("/f.tar", .file(scene.bytes), .gzipped, .closing(after: 120_000).once)
        let job = try await download("/f.tar", ("decode", true))
        #expect(job["state"] == "succeeded")
        #expect(job["resume"]["decision"] == "restarted")
        #expect(scene.origin.requests(to: "/f.tar").allSatisfy { $0.header("Range") == nil })
        #expect(scene.fetchd.downloaded("f.tar") == scene.bytes)
    }

    /// The client's checksum is that of the file; the server's digests are those of the coded bytes.
    @Test func verifiesDigestsOfBothForms() async throws {
        let right = (
            "checksum", JSON.object(["algorithm": "sha-256", "value": .string(SHA.hexadecimal(of: scene.bytes))])
        )
        scene.origin.serve("/f.tar", .file(coded, headers: headers(digestOf: coded)))
        #expect(try await download("/f.tar", ("decode", true), right)["state"] == "succeeded")
        scene.origin.serve("/wrong", .file(coded, headers: headers(digestOf: scene.bytes)))
        let failure = try await failure("/wrong")
        #expect(failure["code"] == "checksum_mismatch")
        let wrong = ("checksum", JSON.object(["algorithm": "sha-256", "value": .string(SHA.hexadecimal(of: coded))]))
        #expect(try await self.failure("/f.tar", wrong)["code"] == "checksum_mismatch")
    }

    private func headers(digestOf bytes: [UInt8]) -> [(name: String, value: String)] {
        let digest = Data(HashFunction.sha256.hash(bytes)).base64EncodedString()
        return [("Content-Encoding", "gzip"), ("Repr-Digest", "sha-256=:\(digest):")]
    }

    @Test func refusesBodyThatIsNotOfItsCoding() async throws {
        let gzip = [(name: "Content-Encoding", value: "gzip")]
        scene.origin.serve("/plain", .file(scene.bytes, headers: gzip))
        #expect(try await failure("/plain")["code"] == "checksum_mismatch")
        try await scene.expectStoredParts([])
        scene.origin.serve("/short", .file(Array(coded.dropLast(3)), headers: gzip))
        #expect(try await failure("/short")["code"] == "truncated")
        scene.origin.serve("/br", .file(scene.bytes, headers: [("Content-Encoding", "br")]))
        let unknown = try await failure("/br")
        #expect(unknown["code"] == "bad_status")
        #expect(unknown["message"].string?.contains("br") == true)
    }

    /// A small body can be decoded to any size.
    @Test func limitsDecodedSize() async throws {
        let job = try await failure("/f.tar", ("max_size", .count(scene.bytes.count - 1)))
        #expect(job["code"] == "too_large")
        let other = try await failure("/f.tar", ("expected_size", .count(coded.count)))
        #expect(other["code"] == "size_mismatch")
    }
}
