import Base
import Formats
import Foundation
import TestKit
import Testing

/// `mirrors: discover`: sources that the server of a job names.
@Suite struct MirrorDiscoveryTests {
    private let scene: Scene
    private let bytes = Content.random(seed: 17, count: 3_000_000)
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private var digest: (name: String, value: String) {
        ("Digest", "SHA-256=" + Data(HashFunction.sha256.hash(bytes)).base64EncodedString())
    }

    private func links(_ urls: [String]) -> (name: String, value: String) {
        ("Link", urls.enumerated().map { "<\($1)>; rel=duplicate; pri=\($0 + 1)" }.joined(separator: ", "))
    }

    private func outcome(_ path: String, _ members: (String, JSON)...) async throws -> JSON {
        var order: JSONObject = [
            "url": .string(scene.origin.url(path)), "mirrors": "discover",
            "retry": ["base_seconds": 0.01, "max_attempts": 2],
        ]
        for (name, value) in members { order[name] = value }
        return try await api.waitForOutcome(api.submit(.object(order)))
    }

    /// Three mirrors have another tag each. One has other bytes of the same size.
    @Test func usesDuplicatesAndDropsALiar() async throws {
        let mirrors = try (0..<3).map { _ in try Origin() }
        for (index, mirror) in mirrors.enumerated() {
            let content = index == 1 ? Content.random(seed: 18, count: bytes.count) : bytes
            mirror.serve("/f", .file(content, etag: "\"m\(index)\""))
        }
        let forbidden = "http://10.1.2.3/f"
        scene.origin.serve(
            "/f", .file(bytes, headers: [links(mirrors.map { $0.url("/f") } + [forbidden]), digest]),
            OriginBehaviour(spoil: { answer, _ in answer.bytesPerSecond = 1_000_000 }))
        let job = try await outcome(
            "/f", ("connections", 5), ("headers", ["X-Key": "secret"]),
            ("credentials", ["type": "bearer", "token": "t"]))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.has("f", bytes))
        let dropped = job["receipt"]["dropped_mirrors"].arrayValue ?? []
        let codes = Dictionary(uniqueKeysWithValues: dropped.map { ($0["url"].string ?? "", $0["code"].string ?? "") })
        #expect(
            codes == [mirrors[1].url("/f"): "bad_range", forbidden: "blocked_address"], "\(job["receipt"].written)")
        #expect(mirrors[0].requests(to: "/f").count > 3 && mirrors[2].requests(to: "/f").count > 3)
        #expect(mirrors[1].requests(to: "/f").count == 1)
        // The mirrors are not the servers that the client has named.
        for request in mirrors.flatMap({ $0.requests(to: "/f") }) {
            #expect(request.header("X-Key") == nil && request.header("Authorization") == nil)
        }
        #expect(job["receipt"]["final_url"] == .string(scene.origin.url("/f")))
    }

    /// Some bits of a mirror's file are wrong. Samples do not find them, and the digest does.
    @Test(arguments: [false, true]) func namesTheMirrorsOfWrongBytes(_ hasPieces: Bool) async throws {
        let mirrors = try (0..<2).map { _ in try Origin() }
        var flipped = bytes
        for place in stride(from: 1_500_000, to: bytes.count, by: 100_000) { flipped[place] ^= 1 }
        mirrors[0].serve("/f", .file(flipped, etag: "\"a\""))
        mirrors[1].serve("/f", .file(bytes, etag: "\"b\""))
        let metalink = ("Link", "</m>; rel=describedby; type=\"application/metalink4+xml\"")
        scene.origin.serve("/m", .file(Array(document(of: mirrors.map { $0.url("/f") }, hasPieces).utf8)))
        scene.origin.serve(
            "/f", .file(bytes, headers: [metalink]),
            OriginBehaviour(spoil: { answer, _ in answer.bytesPerSecond = 1_000_000 }).first(3))
        let job = try await outcome("/f", ("connections", 3))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.has("f", bytes))
        let dropped = (job["receipt"]["dropped_mirrors"].arrayValue ?? []).compactMap { $0["url"].string }
        #expect(dropped.contains(mirrors[0].url("/f")), "\(job["receipt"].written)")
        #expect(try await scene.waits(of: job) == ["checksum_mismatch"])
    }

    private func document(of urls: [String], _ hasPieces: Bool) -> String {
        let length = 100_000
        let hashes = stride(from: 0, to: bytes.count, by: length).map {
            "<hash>\(SHA.hexadecimal(of: Array(bytes[$0..<min($0 + length, bytes.count)])))</hash>"
        }
        return """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><size>\(bytes.count)</size>
            <hash type="sha-256">\(SHA.hexadecimal(of: bytes))</hash>
            \(hasPieces ? "<pieces type=\"sha-256\" length=\"\(length)\">\(hashes.joined())</pieces>" : "")
            \(urls.map { "<url>\($0)</url>" }.joined())
            <metaurl mediatype="application/metalink4+xml">\(scene.origin.url("/b"))</metaurl></file></metalink>
            """
    }

    /// Without a digest, a mirror must have the tag of the server, and takes the place of no server.
    @Test func judgesMirrorsByTheirTagWithoutADigest() async throws {
        let (same, other) = (try Origin(), try Origin())
        // Slow enough that the file does not end before each mirror was asked.
        let slow = OriginBehaviour(spoil: { answer, _ in answer.bytesPerSecond = 1_000_000 })
        same.serve("/f", .file(bytes, etag: "\"v1\""), slow)
        other.serve("/f", .file(bytes, etag: "\"v2\""))
        scene.origin.serve(
            "/f", .file(bytes, etag: "\"v1\"", headers: [links([same.url("/f"), other.url("/f")])]), slow)
        let job = try await outcome("/f", ("connections", 3))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.has("f", bytes))
        #expect(same.requests(to: "/f").count > 3)
        #expect(job["receipt"]["dropped_mirrors"][0]["url"] == .string(other.url("/f")), "\(job["receipt"].written)")
        scene.origin.serve(
            "/gone", .file(bytes, headers: [links([same.url("/f")])]), .answering(403).on(2...))
        #expect(try await outcome("/gone")["failure"]["code"] == "bad_status")
    }

    /// The server of the job ends its service after its head: a mirror takes over, because a digest verifies its file.
    @Test func continuesAtAMirror() async throws {
        let (liar, mirror) = (try Origin(), try Origin())
        liar.serve("/f", .file(Content.random(seed: 18, count: bytes.count)))
        mirror.serve("/f", .file(bytes, etag: "\"m\""))
        scene.origin.serve(
            "/f", .file(bytes, headers: [links([liar.url("/f"), mirror.url("/f")]), digest]), .answering(410).on(2...))
        let job = try await outcome("/f", ("headers", ["X-Key": "secret"]))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(job["receipt"]["final_url"] == .string(mirror.url("/f")))
        #expect(scene.has("f", bytes))
        #expect(mirror.requests(to: "/f").allSatisfy { $0.header("X-Key") == nil })
        let dropped = job["receipt"]["dropped_mirrors"]
        #expect(dropped.count == 1 && dropped[0]["url"] == .string(liar.url("/f")), "\(dropped)")
        #expect(dropped[0]["code"] == "checksum_mismatch")
    }

    /// The document names mirrors, a digest and pieces. It names another document, which names this one; and the mirror names both.
    @Test func readsTheMetalinkThatAResponseNames() async throws {
        let mirror = try Origin()
        let describedBy: (String, String) -> (name: String, value: String) = { url, _ in
            ("Link", "<\(url)>; rel=describedby; type=\"application/metalink4+xml\"")
        }
        let document = document(of: [mirror.url("/f")], true)
        var flipped = bytes
        flipped[1_234_567] ^= 1
        scene.origin.serve("/a", .file(Array(document.utf8), headers: [describedBy(scene.origin.url("/b"), "")]))
        scene.origin.serve("/b", .file(Array(document.utf8), headers: [describedBy(scene.origin.url("/a"), "")]))
        mirror.serve("/f", .file(bytes, headers: [describedBy(scene.origin.url("/b"), "")]))
        let headers = [describedBy(scene.origin.url("/a"), "")]
        scene.origin.serve(
            "/f", .file(flipped, headers: headers), .serving(.file(bytes, headers: headers)).on(4...))
        let job = try await outcome("/f")
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.has("f", bytes))
        // The head, the file, the head again, and the wrong piece.
        #expect(scene.ranges("/f") == [nil, nil, nil, "bytes=1200000-1299999"])
        #expect(scene.origin.requests(to: "/a").count == 2 && scene.origin.requests(to: "/b").isEmpty)
        #expect(mirror.requests(to: "/f").isEmpty)
    }

    @Test func asksNothingIfTheClientHasGivenAllSources() async throws {
        let mirror = try Origin()
        scene.origin.serve("/f", .file(bytes, headers: [links([mirror.url("/f")]), digest]))
        for policy in [JSON.null, "given"] {
            let job = try await scene.outcome("/f", ("mirrors", policy), ("connections", 4))
            #expect(job["state"] == "succeeded" && job["receipt"]["dropped_mirrors"] == [])
        }
        #expect(mirror.requests(to: "/f").isEmpty)
        let answer = try await api.post("/v1/jobs", ["url": .string(scene.origin.url("/f")), "mirrors": "all"])
        #expect(answer.status == 422 && answer.json["pointer"] == "/mirrors")
    }
}
