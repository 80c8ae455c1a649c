import Formats
import Foundation
import TestKit
import Testing

/// Parts without a strong validator are resumed if the job's `checksum` will verify the whole file; if it does not
/// match, the job restarts once.
@Suite struct UnprovenPartTests {
    private let scene: Scene
    private var api: APIClient { scene.api }
    private var bytes: [UInt8] { scene.bytes }
    private let other = Content.random(seed: 8, count: 200_000)
    private static let date = "Mon, 19 Aug 2019 15:23:14 GMT"

    init() async throws { scene = try await Scene() }

    private func checksum(_ bytes: [UInt8]? = nil) -> (String, JSON) { Sums.member(.sha256, of: bytes ?? self.bytes) }

    /// A job that adopts the donor's part and requests a path.
    private func adopt(_ donor: String, _ path: String, _ members: (String, JSON)...) async throws -> JSON {
        var order: JSONObject = [
            "url": .string(scene.origin.url(path)), "resume_from": .string(donor), "retry": ["base_seconds": 0.01],
        ]
        for (name, value) in members { order[name] = value }
        return try await api.waitForOutcome(api.submit(.object(order)))
    }

    // MARK: Resuming without proof

    @Test func resumesWithoutValidatorWhenJobHasChecksum() async throws {
        let resources: [OriginResource] = [
            .file(bytes, etag: nil), .file(bytes, etag: "W/\"weak\""), .file(bytes, etag: nil, lastModified: Self.date),
        ]
        for (index, resource) in resources.enumerated() {
            let path = "/\(index)"
            // The connection breaks twice, and each time the received bytes are kept.
            scene.origin.serve(path, resource, .closing(after: 60_000).first(2))
            let job = try await scene.outcome(path, checksum(), ("retry", ["base_seconds": 0.01, "max_attempts": 2]))
            #expect(job["state"] == "succeeded", "\(job.written)")
            #expect(scene.ranges(path) == [nil, "bytes=60000-", "bytes=120000-"])
            #expect(scene.origin.requests(to: path).allSatisfy { $0.header("If-Range") == nil })
            #expect(job["resume"]["offset"] == 120_000)
            #expect(scene.has("\(index)", bytes))
        }
    }

    @Test func resumesAdoptedPartWithoutValidatorFromAnotherURL() async throws {
        for (index, etag) in [nil, "\"v1\"", "W/\"v1\""].enumerated() {
            let donor = try await scene.pausedJob()
            let path = "/copy\(index)"
            scene.origin.serve(path, .file(bytes, etag: etag))
            guard etag != "W/\"v1\"" else {
                // Another ETag means another version.
                #expect(try await adopt(donor, path, checksum())["resume"]["why"] == "etag_changed")
                continue
            }
            let heir = try await adopt(donor, path, checksum())
            #expect(heir["resume"] == ["decision": "resumed", "why": nil, "offset": 100_000])
            #expect(scene.ranges(path) == ["bytes=100000-"])
            #expect(scene.has("copy\(index)", bytes))
            // The receipt has only the ETag that the last server sent.
            #expect(heir["receipt"]["etag"].string == etag)
        }
        try await scene.expectStoredParts([])
    }

    @Test func acceptsCompletePartOfUnknownSizeOn416() async throws {
        try scene.fetchd.folder.write("x", to: "downloads/f")
        scene.origin.serve("/f", .file(bytes, etag: nil), .chunked().once)
        let donor = try await scene.outcome("/f", ("destination", ["on_conflict": "error"]))
        let heir = try await adopt(donor["id"].string ?? "", "/f", checksum(), ("destination", ["filename": "g"]))
        #expect(heir["receipt"]["status"] == 416)
        #expect(scene.has("g", bytes))
    }

    @Test func restartsWhenETagShowsAnotherVersion() async throws {
        let donor = try await scene.pausedJob()
        scene.origin.serve("/new", .file(other, etag: "\"v2\""))
        let heir = try await adopt(donor, "/new", checksum(other))
        #expect(heir["resume"] == ["decision": "restarted", "why": "etag_changed", "offset": 0])
        #expect(scene.ranges("/new") == ["bytes=100000-", nil])
        #expect(scene.has("new", other))
    }

    /// A job without a checksum does not resume bytes that were combined without proof.
    @Test func keepsMixedPartWithoutETag() async throws {
        let donor = try await scene.pausedJob()
        // Another file with the same name and size, and without an ETag.
        scene.origin.serve("/careless", .file(other, etag: nil), .waiting(at: 50_000, for: scene.gate).once)
        let heir = try await api.submit(scene.order("/careless", ("resume_from", .string(donor)), checksum()))
        try await api.waitForBytes(heir, atLeast: 150_000)
        try await api.act(.pause, on: heir)
        let part = try #require(try await api.resumeData(of: heir))
        #expect(part["bytes_durable"] == 150_000)
        #expect(part["etag"] == .null)
        let last = try await adopt(heir, "/file")
        #expect(last["resume"]["why"] == "no_validator")
        #expect(scene.has("file", bytes))
    }

    // MARK: Restarts after a mismatch

    @Test func restartsWhenChecksumMismatchesAfterResume() async throws {
        let donor = try await scene.pausedJob()
        scene.origin.serve("/careless", .file(other, etag: nil))
        let heir = try await adopt(donor, "/careless", checksum(other))
        #expect(heir["state"] == "succeeded", "\(heir.written)")
        #expect(heir["resume"] == ["decision": "restarted", "why": "no_validator", "offset": 0])
        #expect(scene.ranges("/careless") == ["bytes=100000-", nil])
        #expect(
            try await api.types(of: heir["id"].string ?? "") == [
                "job.created", "job.started", "job.resumed", "job.waiting", "job.started", "job.restarted",
                "job.succeeded",
            ])
        #expect(scene.has("careless", other))
        try await scene.expectStoredParts([])
    }

    /// A strong validator identifies the file; it does not show that the disk has kept its bytes.
    @Test(arguments: ["checksum", "Repr-Digest"]) func restartsWhenPartWasDamagedOnDisk(_ proof: String) async throws {
        let isSaid = OriginBehaviour.header("Repr-Digest", Sums.field(.sha256, of: bytes))
        scene.origin.serve(
            "/held", .file(bytes), [.waiting(at: 100_000, for: scene.gate)] + (proof == "checksum" ? [] : [isSaid]))
        let id = try await scene.pausedJob(checksum(), ("checksum", proof == "checksum" ? checksum().1 : nil))
        try scene.damagePart()
        scene.gate.open()
        try await api.act(.resume, on: id)
        let job = try await api.waitForOutcome(id)
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.ranges("/held") == [nil, "bytes=100000-", nil])
        #expect(try await scene.restarts(of: job) == ["no_validator"])
        #expect(scene.has("held", bytes))
    }

    @Test func failsWhenChecksumMismatchesAfterRestart() async throws {
        let donor = try await scene.pausedJob()
        let heir = try await adopt(donor, "/file", checksum(other))
        #expect(try await scene.isGone(heir), "\(heir.written)")
        #expect(scene.ranges("/file") == ["bytes=100000-", nil])
        #expect(heir["failure"]["attempts"] == 2)
    }

    /// The restart is counted once, also when it is interrupted or the service is killed.
    @Test(.realProcess, arguments: [false, true]) func restartsAtMostOnceAcrossInterruptionAndKill(_ isKilled: Bool)
        async throws
    {
        let donor = try await scene.pausedJob()
        let break2 = isKilled ? OriginBehaviour.waiting(at: 150_000, for: scene.gate) : .closing(after: 150_000)
        scene.origin.serve("/f", .file(bytes), break2.on(2...2))
        let id = try await api.submit(
            scene.order(
                "/f", ("resume_from", .string(donor)), checksum(other), ("retry", ["base_seconds": 0.01])))
        if isKilled {
            // The second request, which restarts the download.
            #expect(await scene.origin.waitForRequests("/f", count: 2))
            try await scene.waitForPromise(of: id, atLeast: 150_000)
            try await scene.process.kill()
            try await scene.process.restart()
        }
        let job = try await api.waitForOutcome(id)
        #expect(try await scene.isGone(job), "\(job.written)")
        #expect(scene.ranges("/f") == ["bytes=100000-", nil, "bytes=150000-"])
        #expect(try await scene.restarts(of: job) == ["no_validator"])
    }

    /// After a mismatch the job does not combine bytes without proof again.
    @Test func resumesNothingUnprovenAfterRestart() async throws {
        let donor = try await scene.pausedJob()
        scene.origin.serve("/f", .file(other, etag: nil), .closing(after: 150_000).on(2...2))
        let job = try await adopt(donor, "/f", checksum(other))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.ranges("/f") == ["bytes=100000-", nil, nil])
        #expect(scene.has("f", other))
    }

    /// A pause during the restarted download keeps the new bytes; the mismatched ones are gone.
    @Test func keepsOnlyNewBytesWhenPausedDuringRestart() async throws {
        let donor = try await scene.pausedJob()
        scene.origin.serve("/f", .file(other, etag: nil), .waiting(at: 50_000, for: scene.gate).on(2...2))
        let id = try await api.submit(scene.order("/f", ("resume_from", .string(donor)), checksum(other)))
        #expect(await scene.origin.waitForRequests("/f", count: 2))
        try await api.waitForBytes(id, atLeast: 50_000)
        try await api.act(.pause, on: id)
        let told = try await api.job(id)["resume"]
        #expect(told == ["decision": "restarted", "why": "no_validator", "offset": 0])
        try await scene.expectStoredParts([50_000])
        #expect(scene.onlyPart == Array(other.prefix(50_000)))
    }
}

extension Scene {
    private var partNames: [String] { fetchd.folder.files.filter { $0.hasSuffix(".part") } }

    /// The bytes of the only part.
    var onlyPart: [UInt8]? { partNames.count == 1 ? fetchd.folder.bytes(of: partNames[0]) : nil }

    /// Flips a bit in the only part, as a failing disk does.
    func damagePart() throws {
        let name = try #require(partNames.count == 1 ? partNames.first : nil)
        var bytes = try #require(fetchd.folder.bytes(of: name))
        bytes[1000] ^= 1
        let file = try #require(FileHandle(forWritingAtPath: fetchd.folder.path(name)))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }
}
