import Downloads
import Formats
import TestKit
import Testing

/// The receipt of a finished job.
@Suite struct ReceiptTests {
    private static let date = "Mon, 19 Aug 2019 15:23:14 GMT"

    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func finish(_ path: String, _ members: (String, JSON)...) async throws -> JSON {
        var order: JSONObject = ["url": .string(scene.origin.url(path)), "retry": ["base_seconds": 0.01]]
        for (name, value) in members { order[name] = value }
        return try await api.waitForJob(api.submit(.object(order)), .succeeded)
    }

    @Test(.realProcess) func fillsEveryFieldOfReceiptAndKeepsItAfterKill() async throws {
        scene.origin.serve("/a", .redirect(to: "/b?hop=1", status: 301))
        scene.origin.serve("/b", .redirect(to: "/c?hop=2"))
        scene.origin.serve("/c", .file(scene.bytes, etag: "\"v9\"", lastModified: Self.date, contentType: "video/mp4"))
        let job = try await finish("/a?hop=0")
        #expect(
            job["file"]
                == [
                    "path": "c", "location": "default", "size": 200_000,
                    "sha256": .string(SHA.hexadecimal(of: scene.bytes)),
                    "content_type": "video/mp4", "url": .null, "etag": .null, "version_id": .null,
                ])
        let receipt = job["receipt"]
        #expect(
            receipt.names == [
                "final_url", "redirects", "status", "etag", "last_modified", "remote_address", "protocol",
                "length_verified", "verified_by", "checksum", "dropped_mirrors", "resumed_by", "coding", "attempts",
                "timings",
            ])
        #expect(receipt["final_url"].string == scene.origin.url("/c?hop=2"))
        #expect(receipt["redirects"] == .strings([scene.origin.url("/a?hop=0"), scene.origin.url("/b?hop=1")]))
        #expect(receipt["status"] == 200)
        #expect(receipt["etag"] == "\"v9\"")
        #expect(receipt["last_modified"].string == Self.date)
        #expect(receipt["remote_address"] == "127.0.0.1")
        #expect(receipt["protocol"] == "HTTP/1.1")
        #expect(receipt["length_verified"] == true)
        #expect(receipt["verified_by"] == [] && receipt["resumed_by"] == .null)
        #expect(receipt["attempts"] == 1)
        let timings = receipt["timings"]
        #expect(timings.names == ["connect_seconds", "first_byte_seconds", "transfer_seconds", "total_seconds"])
        for name in timings.names { #expect(timings[name].numberValue.map { $0 >= 0 } == true, "\(name)") }
        #expect(job["progress"]["fraction"] == 1)
        #expect(job["progress"]["bytes_expected"] == 200_000)

        // The event has the same receipt with redacted query strings, and a kill changes nothing.
        let event = try #require(try await api.events(of: job["id"].string).last)
        let told = event["data"]["snapshot"]["receipt"]
        for name in receipt.names where !["final_url", "redirects"].contains(name) {
            #expect(told[name] == receipt[name], "\(name)")
        }
        #expect(told["final_url"].string == scene.origin.url("/c?..."))
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await api.job(job["id"].string ?? "")["receipt"] == receipt)
    }

    @Test func leavesUnknownReceiptFieldsNull() async throws {
        scene.origin.serve("/f", .file(scene.bytes, etag: nil, contentType: nil))
        let job = try await finish("/f")
        for name in ["etag", "last_modified"] { #expect(job["receipt"][name] == .null, "\(name)") }
        #expect(job["file"]["content_type"] == .null)
        #expect(job["receipt"]["redirects"] == [])
        #expect(job["receipt"]["final_url"] == job["url"])
    }

    @Test func computesSHA256UnlessDigestIsNone() async throws {
        let hash = JSON.string(SHA.hexadecimal(of: scene.bytes))
        #expect(try await finish("/file", ("digest", "none"))["file"]["sha256"] == .null)
        #expect(try await finish("/file", ("digest", "sha-256"))["file"]["sha256"] == hash)
        try await api.declareSession("films", ["digest": "none"])
        #expect(try await finish("/file", ("session", "films"))["file"]["sha256"] == .null)
        #expect(try await finish("/file", ("session", "films"), ("digest", "sha-256"))["file"]["sha256"] == hash)
        scene.origin.serve("/empty", .file([]))
        #expect(try await finish("/empty")["file"]["sha256"] == .string(SHA.hexadecimal(of: [])))
    }

    /// The bytes from before a restart are read again for the digest.
    @Test(.realProcess) func computesDigestOfWholeFileAfterResume() async throws {
        let hash = JSON.string(SHA.hexadecimal(of: scene.bytes))
        scene.origin.serve("/f", .file(scene.bytes), .closing(after: 70_001).once, .closing(after: 60_000).on(2...2))
        let broken = try await finish("/f")
        #expect(broken["resume"]["offset"] == 130_001)
        #expect(broken["file"]["sha256"] == hash)
        #expect(broken["receipt"]["attempts"] == 3)
        #expect(broken["receipt"]["status"] == 206)

        let paused = try await scene.pausedJob()
        try await scene.process.kill()
        try await scene.process.restart()
        scene.gate.open()
        try await api.act(.resume, on: paused)
        #expect(try await api.waitForJob(paused, .succeeded)["file"]["sha256"] == hash)

        scene.origin.serve("/f", .file(scene.bytes), .closing(after: 70_001).once, .ignoringRanges)
        let restarted = try await finish("/f")
        #expect(restarted["resume"]["decision"] == "restarted")
        #expect(restarted["file"]["sha256"] == hash)
    }

    /// A 206 response need not repeat the metadata of the file (RFC 9110, section 15.3.7).
    @Test func remembersMetadataThatResumeResponseOmits() async throws {
        let headers = [(name: "Content-Disposition", value: "attachment; filename=film.mp4")]
        scene.origin.serve(
            "/f", .file(scene.bytes, lastModified: Self.date, contentType: "video/mp4", headers: headers),
            .closing(after: 100_000).once, .header("Content-Type", nil).on(2...),
            .header("Last-Modified", nil).on(2...),
            .header("Content-Disposition", nil).on(2...))
        let job = try await finish("/f")
        #expect(job["resume"]["offset"] == 100_000)
        #expect(job["file"]["path"] == "film.mp4")
        #expect(job["file"]["content_type"] == "video/mp4")
        #expect(job["receipt"]["last_modified"].string == Self.date)
        #expect(job["receipt"]["etag"] == "\"v1\"")
    }

    @Test func reportsWhetherLengthWasVerified() async throws {
        scene.origin.serve("/open", .file(scene.bytes), .withoutLength)
        scene.origin.serve("/chunked", .file(scene.bytes), .chunked())
        #expect(try await finish("/open")["receipt"]["length_verified"] == false)
        #expect(try await finish("/open", ("expected_size", 200_000))["receipt"]["length_verified"] == true)
        #expect(try await finish("/chunked")["receipt"]["length_verified"] == true)
    }

    @Test func hasNoReceiptUnlessSucceeded() async throws {
        for state in [JobState.Kind.queued, .running, .waiting, .paused, .failed, .cancelled] {
            let job = try await api.job(scene.job(in: state))
            #expect(job["receipt"] == .null, "\(state)")
            #expect(job["file"] == .null, "\(state)")
        }
    }
}
