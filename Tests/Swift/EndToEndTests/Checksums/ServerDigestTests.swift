import Formats
import HTTPSemantics
import TestKit
import Testing

/// Digests that servers send: `Repr-Digest`, `Content-Digest` (RFC 9530) and `Content-MD5` (RFC 1864).
@Suite struct ServerDigestTests {
    private let scene: Scene
    private var api: APIClient { scene.api }
    private var bytes: [UInt8] { scene.bytes }
    private let other = Content.random(seed: 8, count: 200_000)

    init() async throws { scene = try await Scene() }

    private func reprDigest(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> OriginBehaviour {
        .header("Repr-Digest", Sums.field(algorithm, of: bytes))
    }

    // MARK: Digests that hold for the whole job

    /// The first server states a digest and dies: after no byte, or after some. The second one has the same ETag and other bytes.
    @Test(arguments: [0, 60_000]) func holdsForMirrorsOfTheSameVersion(_ received: Int) async throws {
        func serveOne() {
            scene.origin.serve(
                "/one", .file(bytes, etag: "\"v1\""), reprDigest(.sha256, of: bytes), .closing(after: received).once,
                .answering(500).on(2...))
        }
        serveOne()
        scene.origin.serve("/two", .file(other, etag: "\"v1\""))
        let urls: JSON = .strings([scene.origin.url("/one"), scene.origin.url("/two")])
        let members: [(String, JSON)] = [
            ("url", nil), ("urls", urls), ("retry", ["base_seconds": 0.01, "max_attempts": 2]),
        ]
        let wrong = try await scene.outcome("/one", members[0], members[1], members[2])
        #expect(try await scene.isGone(wrong), "\(wrong.written)")

        serveOne()
        scene.origin.serve("/two", .file(bytes, etag: "\"v1\""))
        let right = try await scene.outcome("/one", members[0], members[1], members[2])
        #expect(right["state"] == "succeeded")
        #expect(scene.has(right["file"]["path"].string ?? "", bytes))

        // Another version has begun, of which no server has stated a digest.
        serveOne()
        scene.origin.serve("/two", .file(other, etag: "\"v2\""))
        let next = try await scene.outcome("/one", members[0], members[1], members[2])
        #expect(next["state"] == "succeeded")
    }

    @Test func holdsAcrossRestartsOfTheService() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        origin.serve("/f", .file(bytes, etag: "\"v1\""), reprDigest(.sha256, of: bytes), .closing(after: 0))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f")), "retry": ["base_seconds": 60]])
        _ = try await eventually("the first attempt to end") {
            try await fetchd.api.get("/v1/jobs/\(id)").json["state"] == "waiting" ? true : nil
        }
        try await fetchd.kill()
        try await fetchd.restart()
        origin.serve("/f", .file(other, etag: "\"v1\""))
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume", [:])
        let wrong = try await fetchd.api.waitForOutcome(id)
        #expect(wrong["failure"]["code"] == "checksum_mismatch" && wrong["file"] == .null, "\(wrong.written)")
    }

    // MARK: Digests of object stores

    @Test(arguments: ["Digest", "x-goog-hash", "x-amz-checksum-sha256", "x-amz-checksum-crc64nvme"])
    func verifiesDigestsOfObjectStores(
        _ name: String
    )
        async throws
    {
        func value(_ bytes: [UInt8]) -> String {
            switch name {
            case "Digest": "SHA-256=\(Sums.base64(.sha256, of: bytes))"
            case "x-goog-hash": "crc32c=n03x6A==,md5=\(Sums.base64(.md5, of: bytes))"
            case "x-amz-checksum-crc64nvme": Sums.base64(.crc64nvme, of: bytes)
            default: Sums.base64(.sha256, of: bytes)
            }
        }
        scene.origin.serve("/f", .file(bytes), .header(name, value(other)))
        let wrong = try await scene.outcome("/f")
        #expect(try await scene.isGone(wrong), "\(wrong.written)")
        #expect(wrong["failure"]["message"].string?.contains("the server's \(name)") == true)
        scene.origin.serve("/f", .file(bytes), .header(name, value(bytes)), .closing(after: 100_000).once)
        let right = try await scene.outcome("/f", checksum)
        #expect(right["receipt"]["verified_by"] == ["checksum", .string(name)])
        #expect(right["receipt"]["resumed_by"] == "validator")
    }

    private var checksum: (String, JSON) { Sums.member(.sha512, of: bytes) }

    // MARK: Digests of a whole response

    @Test(arguments: Checksum.Algorithm.allCases) func verifiesReprDigestOfEveryAlgorithm(
        _ algorithm: Checksum.Algorithm
    ) async throws {
        scene.origin.serve("/f", .file(bytes), reprDigest(algorithm, of: other))
        let wrong = try await scene.outcome("/f")
        #expect(try await scene.isGone(wrong), "\(wrong.written)")
        let message = try #require(wrong["failure"]["message"].string)
        for part in [
            algorithm.rawValue, "the server's Repr-Digest", Sums.hexadecimal(algorithm, of: other),
            Sums.hexadecimal(algorithm, of: bytes),
        ] {
            #expect(message.contains(part), "\(message)")
        }
        #expect(scene.origin.requests(to: "/f").count == 1)

        scene.origin.serve("/f", .file(bytes), reprDigest(algorithm, of: bytes))
        #expect(try await scene.outcome("/f")["state"] == "succeeded")
        #expect(scene.has("f", bytes))
    }

    @Test(arguments: ["Content-MD5", "Content-Digest"]) func verifiesContentDigestAndContentMD5OfWholeResponse(
        _ name: String
    ) async throws {
        func value(_ bytes: [UInt8]) -> String {
            name == "Content-MD5" ? Sums.base64(.md5, of: bytes) : Sums.field(.sha512, of: bytes)
        }
        scene.origin.serve("/f", .file(bytes), .header(name, value(other)))
        let wrong = try await scene.outcome("/f")
        #expect(try await scene.isGone(wrong), "\(wrong.written)")
        #expect(wrong["failure"]["message"].string?.contains("the server's \(name)") == true)
        scene.origin.serve("/f", .file(bytes), .header(name, value(bytes)))
        #expect(try await scene.outcome("/f")["state"] == "succeeded")

        // In the response to a range request, the digest covers that range.
        scene.origin.serve("/g", .file(bytes), .closing(after: 100_000).once, .header(name, value(other)).on(2...))
        let resumed = try await scene.outcome("/g")
        #expect(resumed["resume"]["offset"] == 100_000)
        #expect(scene.has("g", bytes))
    }

    @Test func requiresEveryDigestToMatch() async throws {
        let headers = [
            (name: "Repr-Digest", value: Sums.field(.sha256, of: bytes)),
            (name: "Repr-Digest", value: "\(Sums.field(.md5, of: other)), crc32c=:AAAAAA==:"),
        ]
        scene.origin.serve("/f", .file(bytes, headers: headers))
        let job = try await scene.outcome("/f", Sums.member(.sha256, of: bytes))
        #expect(try await scene.isGone(job), "\(job.written)")
        #expect(job["failure"]["message"].string?.hasPrefix("The md5 of the bytes is ") == true)
        scene.origin.serve(
            "/g", .file(bytes, headers: [headers[0]]), .header("Content-MD5", Sums.base64(.md5, of: bytes)))
        #expect(try await scene.outcome("/g", ("digest", "none"))["state"] == "succeeded")
    }

    /// A digest that cannot be parsed is ignored.
    @Test func ignoresMalformedDigests() async throws {
        let wrong = Sums.base64(.sha256, of: other)
        let headers = [
            ("Repr-Digest", "sha-256=\(wrong)"), ("Repr-Digest", "sha-256=:\(wrong)"),
            ("Repr-Digest", "SHA-256=:\(wrong):"), ("Repr-Digest", "sha-256=:\(wrong):,"),
            ("Repr-Digest", "sha-256=:AAAA:"), ("Repr-Digest", "sha-384=:\(wrong):"), ("Repr-Digest", "sha-256"),
            ("Repr-Digest", "sha-256=\"\(wrong)\""), ("Content-MD5", "AAAA"), ("Content-MD5", "no base64!"),
            ("Content-Digest", ";;;"), ("Digest", "sha-256:\(wrong)"),
        ]
        for (index, header) in headers.enumerated() {
            scene.origin.serve("/\(index)", .file(bytes), .header(header.0, header.1))
        }
        let jobs = headers.indices.map { JSON.object(["url": .string(scene.origin.url("/\($0)"))]) }
        let ids = try await api.post("/v1/jobs/batch", ["jobs": .array(jobs)]).json["jobs"].arrayValue ?? []
        #expect(ids.count == headers.count)
        for (job, header) in zip(ids, headers) {
            let job = try await api.waitForOutcome(job["id"].string ?? "")
            #expect(job["state"] == "succeeded", "\(header): \(job["failure"].written)")
        }
    }

    @Test func verifiesLengthByReprDigest() async throws {
        scene.origin.serve("/open", .file(bytes), .withoutLength, reprDigest(.sha512, of: bytes))
        #expect(try await scene.outcome("/open")["receipt"]["length_verified"] == true)
        scene.origin.serve("/cut", .file(bytes), .withoutLength, .closing(after: 50), reprDigest(.sha512, of: bytes))
        #expect(try await scene.outcome("/cut")["failure"]["code"] == "checksum_mismatch")
    }

    /// A redirect's digest is that of its own content.
    @Test func ignoresDigestOfRedirectResponse() async throws {
        let header = (name: "Repr-Digest", value: Sums.field(.sha256, of: other))
        scene.origin.serve("/moved", .redirect(to: "/file"), .header(header.name, header.value))
        #expect(try await scene.outcome("/moved")["state"] == "succeeded")
        scene.origin.serve("/f", .file(bytes), .header(header.name, header.value))
        scene.origin.serve("/moved", .redirect(to: "/f"))
        #expect(try await scene.outcome("/moved")["failure"]["code"] == "checksum_mismatch")
    }

    /// Bytes are stored as received, with their content coding: that is the representation a digest covers.
    @Test func verifiesEncodedBodyAsReceived() async throws {
        scene.origin.serve("/f", .file(bytes), .header("Content-Encoding", "gzip"), reprDigest(.sha256, of: bytes))
        #expect(try await scene.outcome("/f")["state"] == "succeeded")
        #expect(scene.has("f", bytes))
        scene.origin.serve("/g", .file(bytes), .header("Content-Encoding", "gzip"), reprDigest(.sha256, of: other))
        #expect(try await scene.outcome("/g")["failure"]["code"] == "checksum_mismatch")
    }

    // MARK: Digests of bytes from several responses

    /// In the response to a range request, `Repr-Digest` covers the whole representation.
    @Test func verifiesWholeFileByReprDigestOfRangeResponse() async throws {
        let breaks = OriginBehaviour.closing(after: 100_000).once
        scene.origin.serve("/f", .file(bytes), breaks, reprDigest(.sha512, of: bytes).on(2...))
        let right = try await scene.outcome("/f")
        #expect(right["resume"]["offset"] == 100_000)
        #expect(scene.has("f", bytes))

        scene.origin.serve("/g", .file(bytes), breaks, reprDigest(.sha512, of: other).on(2...))
        let wrong = try await scene.outcome("/g", ("destination", ["filename": "g"]))
        // The mismatch may come from the pieces, so the whole file is fetched once more.
        #expect(wrong["failure"]["code"] == "checksum_mismatch")
        #expect(scene.ranges("/g") == [nil, "bytes=100000-", nil])
        #expect(try await scene.waits(of: wrong) == ["truncated", "checksum_mismatch"])
        #expect(try await scene.restarts(of: wrong) == ["no_validator"])
        #expect(scene.fetchd.downloaded("g") == nil)
        try await scene.expectStoredParts([])
    }

    /// Only the first response has the digest. It is that of the version, so it holds for the restarted download, too.
    @Test(.realProcess, arguments: [false, true]) func remembersDigestOfFirstResponse(_ isKilled: Bool)
        async throws
    {
        scene.origin.serve(
            "/f", .file(bytes), reprDigest(.sha256, of: other).once, .waiting(at: 100_000, for: scene.gate).once)
        let id = try await api.submit(scene.order("/f", ("retry", ["base_seconds": 0.01])))
        if isKilled {
            try await scene.waitForPromise(of: id, atLeast: 100_000)
            try await scene.process.kill()
            try await scene.process.restart()
        } else {
            try await api.waitForBytes(id, atLeast: 100_000)
            try await api.act(.pause, on: id)
            try await api.act(.resume, on: id)
        }
        let job = try await api.waitForOutcome(id)
        #expect(job["failure"]["code"] == "checksum_mismatch", "\(job.written)")
        #expect(scene.ranges("/f") == [nil, "bytes=100000-", nil])
        #expect(try await scene.waits(of: job) == ["checksum_mismatch"])
        #expect(try await scene.restarts(of: job) == ["no_validator"])
        #expect(scene.fetchd.downloaded("f") == nil)
    }

    /// The digest of an earlier version does not apply to the changed file.
    @Test func ignoresDigestOfEarlierVersion() async throws {
        let changed = Content.random(seed: 9, count: 200_000)
        scene.origin.serve(
            "/f", .file(bytes), reprDigest(.sha256, of: bytes).once, .closing(after: 100_000).once,
            .serving(.file(changed, etag: "\"v2\"")).on(2...))
        let job = try await scene.outcome("/f")
        #expect(job["resume"]["why"] == "etag_changed")
        #expect(scene.has("f", changed))
    }

    /// A digest from another URL does not apply to a file that no validator shows to be the same.
    @Test func ignoresDigestFromAnotherURLWithoutValidator() async throws {
        scene.origin.serve(
            "/held", .file(bytes, headers: [("Repr-Digest", Sums.field(.sha256, of: other))]),
            .waiting(at: 100_000, for: scene.gate))
        let donor = try await scene.pausedJob()
        scene.origin.serve("/mirror", .file(bytes, etag: nil))
        let heir = try await scene.outcome(
            "/mirror", ("resume_from", .string(donor)), Sums.member(.sha512, of: bytes))
        #expect(heir["state"] == "succeeded", "\(heir.written)")
        #expect(scene.ranges("/mirror") == ["bytes=100000-"])
        #expect(scene.has("mirror", bytes))
    }

    /// The donor had all bytes and their digest; the part on the disk is damaged. The heir verifies it without a request, and then
    /// downloads the file again.
    @Test func verifiesCompletePartByRememberedDigest() async throws {
        try scene.fetchd.folder.write("x", to: "downloads/f")
        scene.origin.serve("/f", .file(bytes), reprDigest(.sha256, of: bytes).once)
        let donor = try await scene.outcome("/f", ("destination", ["on_conflict": "error"]))
        #expect(donor["failure"]["code"] == "destination_exists")
        try scene.damagePart()
        let order = scene.order(
            "/f", ("resume_from", donor["id"]), ("destination", ["filename": "g"]), ("retry", ["base_seconds": 0.01]))
        let heir = try await api.waitForOutcome(api.submit(order))
        #expect(heir["state"] == "succeeded", "\(heir.written)")
        #expect(scene.ranges("/f") == [nil, nil])
        #expect(try await scene.restarts(of: heir) == ["no_validator"])
        #expect(scene.has("g", bytes))
    }
}
