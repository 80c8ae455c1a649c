import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// The part of a job that does not run: it is kept, shown as resume data, and resumed. After every step the files in
/// the folder of parts match the resume data in the API.
@Suite struct ResumeDataDocumentTests {
    @Test func showsResumeDataOfPausedJob() async throws {
        let scene = try await Scene()
        let date = "Mon, 19 Aug 2019 15:23:14 GMT"
        scene.origin.serve(
            "/held", .file(scene.bytes, etag: "\"v7\"", lastModified: date), .waiting(at: 100_000, for: scene.gate))
        let url = scene.origin.url("/held?signature=abc")
        let id = try await scene.pausedJob(("url", .string(url)))
        let part = try #require(try await scene.api.resumeData(of: id))
        #expect(
            part.names == ["url", "etag", "last_modified", "bytes_expected", "ranges", "bytes_durable", "expires_at"])
        // The URL includes its query: without it the download cannot be resumed.
        #expect(part["url"].string == url)
        #expect(part["etag"] == "\"v7\"")
        #expect(part["last_modified"].string == date)
        #expect(part["bytes_expected"] == 200_000)
        #expect(part["ranges"] == [[0, 100_000]])
        #expect(part["bytes_durable"] == 100_000)
        // The part of a paused job does not expire.
        #expect(part["expires_at"] == .null)
        try await scene.expectStoredParts([100_000])
    }

    @Test func leavesUnknownResumeDataFieldsNullAndRestarts() async throws {
        let scene = try await Scene()
        scene.origin.serve(
            "/held", .file(scene.bytes, etag: nil), .chunked(), .waiting(at: 100_000, for: scene.gate).once)
        let id = try await scene.pausedJob()
        let part = try #require(try await scene.api.resumeData(of: id))
        for name in ["etag", "last_modified", "bytes_expected"] { #expect(part[name] == .null, "\(name)") }
        // No validator proves that further bytes belong to the same file.
        try await scene.api.act(.resume, on: id)
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["resume"] == ["decision": "restarted", "why": "no_validator", "offset": 0])
        #expect(try await scene.api.types(of: id).contains("job.restarted"))
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
        try await scene.expectStoredParts([])
    }

    @Test(arguments: [JobState.Kind.queued, .succeeded, .cancelled, .waiting, .failed])
    func answers404WhenJobHasNoResumeData(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: state)
        let answer = try await scene.api.get("/v1/jobs/\(id)/resume-data")
        #expect(answer.status == 404)
        #expect(answer.problem == .init(kind: "not-found"))
        #expect(try await scene.api.get("/v1/jobs/job_unknown/resume-data").status == 404)
        #expect(try await scene.api.send("POST", "/v1/jobs/\(id)/resume-data").status == 405)
    }

    @Test func resumesWithIfRangeAfterPause() async throws {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        let id = try await scene.pausedJob()
        try await scene.expectStoredParts([100_000])
        try await scene.api.act(.resume, on: id)
        scene.gate.open()
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": 100_000])
        let request = try #require(scene.origin.requests(to: "/held").last)
        #expect(request.header("Range") == "bytes=100000-")
        #expect(request.header("If-Range") == "\"v1\"")
        let told = try #require(try await scene.api.events(of: id).first { $0["type"] == "job.resumed" })
        #expect(told["data"] == ["offset": 100_000, "bytes_expected": 200_000])
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
        try await scene.expectStoredParts([])
    }

    /// The rule is the same whether the job was running, paused or waiting.
    @Test(arguments: ["running", "paused", "waiting"])
    func keepsPartOfCancelledJobOnlyWithProduceResumeData(_ state: String) async throws {
        let scene = try await Scene()
        try await scene.serveBreaking()
        func job() async throws -> String {
            switch state {
            case "running": return try await scene.heldJob()
            case "paused": return try await scene.pausedJob()
            default:
                let id = try await scene.api.submit(scene.order("/breaking", ("retry", ["base_seconds": 0.01])))
                try await scene.api.waitForJob(id, toBe: "held off") { $0["cause"]["status"] == 503 }
                return id
            }
        }
        let dropped = try await job()
        #expect(try await scene.api.act(.cancel, on: dropped)["progress"]["bytes_durable"] == 0)
        #expect(try await scene.api.resumeData(of: dropped) == nil)
        try await scene.expectStoredParts([])
        try await scene.serveBreaking()
        let explicit = try await job()
        try await scene.api.act(.cancel, on: explicit, ["produce_resume_data": false])
        try await scene.expectStoredParts([])
        try await scene.serveBreaking()

        let kept = try await job()
        let cancelled = try await scene.api.act(.cancel, on: kept, ["produce_resume_data": true])
        #expect(cancelled["state"] == "cancelled")
        #expect(cancelled["progress"]["bytes_durable"] == 100_000)
        let part = try #require(try await scene.api.resumeData(of: kept))
        #expect(part["bytes_durable"] == 100_000)
        let expiry = try #require(part["expires_at"].string.flatMap { Date(rfc3339: $0) })
        // The default TTL is a week.
        #expect((604_000...604_800).contains(expiry.timeIntervalSinceNow))
        try await scene.expectStoredParts([100_000])
        // A retry resumes from it.
        scene.origin.serve("/breaking", .file(scene.bytes))
        scene.origin.serve("/held", .file(scene.bytes))
        try await scene.api.act(.retry, on: kept)
        #expect(try await scene.api.waitForJob(kept, .succeeded)["resume"]["offset"] == 100_000)
        try await scene.expectStoredParts([])
    }

    @Test func keepsPartOfFailedJobUntilItIsDeleted() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(scene.bytes), .closing(after: 120_000))
        let id = try await scene.api.submit(scene.order("/f", ("retry", ["max_attempts": 1])))
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["progress"]["bytes_durable"] == 120_000)
        #expect(job["progress"]["bytes_expected"] == 200_000)
        #expect(job["progress"]["fraction"] == 0.6)
        #expect(try await scene.api.resumeData(of: id)?["expires_at"] != .null)
        try await scene.expectStoredParts([120_000])
        #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204)
        try await scene.expectStoredParts([])
    }

    @Test(.realProcess) func keepsResumeDataAfterKillAndRemovesStrayParts() async throws {
        let scene = try await Scene()
        scene.origin.serve("/broken", .file(scene.bytes), .closing(after: 60_000))
        let paused = try await scene.pausedJob()
        let cancelled = try await scene.heldJob()
        try await scene.api.act(.cancel, on: cancelled, ["produce_resume_data": true])
        let failed = try await scene.api.submit(scene.order("/broken", ("retry", ["max_attempts": 1])))
        try await scene.api.waitForJob(failed, .failed)
        let ids = [paused, cancelled, failed]
        var before: [JSON] = []
        for id in ids { before.append(try #require(try await scene.api.resumeData(of: id))) }
        try await scene.process.kill()
        // A file without a row: the service removes it.
        try scene.fetchd.folder.write("left over", to: "downloads/.incomplete/part_0.part")
        try await scene.process.restart()
        try await scene.expectStoredParts([60_000, 100_000, 100_000])
        for (id, part) in zip(ids, before) { #expect(try await scene.api.resumeData(of: id) == part) }
        scene.origin.serve("/held", .file(scene.bytes))
        try await scene.api.act(.retry, on: cancelled)
        #expect(try await scene.api.waitForJob(cancelled, .succeeded)["resume"]["offset"] == 100_000)
        try await scene.expectStoredParts([60_000, 100_000])
    }

    /// If a part was removed or shortened outside the service, the job fetches it again and says why.
    @Test func restartsWhenPartIsMissingOrTooShort() async throws {
        let scene = try await Scene()
        for (why, damage) in [("part_missing", nil), ("part_shorter_than_recorded", "short")] {
            let id = try await scene.pausedJob()
            let part = try #require(scene.fetchd.folder.files.first { $0.hasSuffix(".part") })
            if let damage {
                try scene.fetchd.folder.write(damage, to: part)
            } else {
                try FileManager.default.removeItem(atPath: scene.fetchd.folder.path(part))
            }
            scene.origin.serve("/held", .file(scene.bytes))
            try await scene.api.act(.resume, on: id)
            let job = try await scene.api.waitForJob(id, .succeeded)
            #expect(job["resume"] == ["decision": "restarted", "why": .string(why), "offset": 0])
            #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
            try await scene.expectStoredParts([])
            scene.origin.serve("/held", .file(scene.bytes), .waiting(at: 100_000, for: scene.gate))
        }
    }
}

extension Scene {
    /// `/breaking` sends half of the file, and refuses all later requests. The server gets requests again.
    fileprivate func serveBreaking() async throws {
        origin.serve(
            "/breaking", .file(bytes), .closing(after: 100_000).once,
            .answering(503, headers: [("Retry-After", "3600")]).on(2...))
        _ = try await api.post("/v1/hosts/127.0.0.1:\(origin.port)/open")
    }
}
