import Downloads
import TestKit
import Testing

/// `resume_from`: a new job continues from the bytes of a donor job, with any destination and any URL.
@Suite struct AdoptedPartTests {
    /// A donor at rest in the given state, with 100,000 bytes.
    private func donor(_ state: JobState.Kind, in scene: Scene) async throws -> String {
        switch state {
        case .paused: return try await scene.pausedJob()
        case .cancelled:
            let id = try await scene.heldJob()
            try await scene.api.act(.cancel, on: id, ["produce_resume_data": true])
            return id
        default:
            scene.origin.serve("/broken", .file(scene.bytes), .closing(after: 100_000))
            let id = try await scene.api.submit(scene.order("/broken", ("retry", ["max_attempts": 1])))
            try await scene.api.waitForJob(id, .failed)
            return id
        }
    }

    /// The part is complete, so no byte is fetched; its size is still checked against the new job's limits.
    @Test(arguments: [("expected_size", "size_mismatch"), ("max_size", "too_large")])
    func checksLimitsOfAdoptedCompletePart(_ limit: String, _ code: String) async throws {
        let scene = try await Scene()
        try scene.fetchd.folder.write("x", to: "downloads/file")
        let order = scene.order("/file", ("destination", ["on_conflict": "error"]))
        let donor = try await scene.api.submit(order)
        try await scene.api.waitForJob(donor, .failed)
        try await scene.expectStoredParts([200_000])
        let heir = try await scene.api.submit(scene.order("/file", ("resume_from", .string(donor)), (limit, 5)))
        let job = try await scene.api.waitForJob(heir, .failed)
        #expect(job["failure"]["code"].string == code)
    }

    @Test(arguments: [JobState.Kind.paused, .cancelled, .failed])
    func adoptsPartOfDonorAndResumesFromItsOffset(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let donor = try await donor(state, in: scene)
        let given = try #require(try await scene.api.resumeData(of: donor))
        let before = try await scene.api.job(donor)
        try await scene.expectStoredParts([100_000])
        // The gate holds the job, so that the test can inspect it.
        scene.origin.serve("/file", .file(scene.bytes), .waitingBeforeHead(for: scene.gate))
        let answer = try await scene.api.post(
            "/v1/jobs",
            scene.order(
                "/file", ("resume_from", .string(donor)), ("not_before", "2999-01-01T00:00:00Z"),
                ("destination", ["directory": "other", "filename": "whole.bin"])))
        #expect(answer.status == 201)
        #expect(answer.json["progress"]["bytes_durable"] == 100_000)
        #expect(answer.json["progress"]["bytes_expected"] == 200_000)
        let heir = try #require(answer.json["id"].string)
        let taken = try #require(try await scene.api.resumeData(of: heir))
        for name in ["url", "etag", "ranges", "bytes_durable", "bytes_expected"] { #expect(taken[name] == given[name]) }
        #expect(taken["expires_at"] != .null)
        try await scene.expectStoredParts([100_000])

        // The donor keeps its state, without a part.
        let after = try await scene.api.job(donor)
        #expect(after["state"] == before["state"])
        #expect(after["revision"].integer == (before["revision"].integer ?? 0) + 1)
        #expect(after["progress"]["bytes_durable"] == 0)
        #expect(try await scene.api.resumeData(of: donor) == nil)
        #expect(
            try await scene.api.post("/v1/jobs", scene.order("/file", ("resume_from", .string(donor)))).status == 409)

        try await scene.api.change(heir, ["not_before": nil])
        scene.gate.open()
        let job = try await scene.api.waitForJob(heir, .succeeded)
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": 100_000])
        #expect(job["file"]["path"] == "other/whole.bin")
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
        #expect(scene.fetchd.downloaded("other/whole.bin") == scene.bytes)
        #expect(scene.origin.requests(to: "/file").map { $0.header("Range") } == ["bytes=100000-"])
        #expect(scene.origin.requests(to: "/file").map { $0.header("If-Range") } == ["\"v1\""])
        try await scene.expectStoredParts([])
    }

    /// Another server has the same file, as its validator shows.
    @Test func resumesAdoptedPartFromAnotherServerWithSameValidator() async throws {
        let (scene, mirror) = (try await Scene(), try Origin())
        mirror.serve("/copy", .file(scene.bytes))
        let donor = try await scene.pausedJob()
        let id = try await scene.api.submit(["url": .string(mirror.url("/copy")), "resume_from": .string(donor)])
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["resume"]["offset"] == 100_000)
        #expect(job["file"]["path"] == "copy")
        #expect(mirror.requests.map { $0.header("Range") } == ["bytes=100000-"])
        #expect(scene.fetchd.downloaded("copy") == scene.bytes)
    }

    /// A response that does not prove it is the same file makes the job restart from the first byte.
    @Test func restartsAdoptedPartWhenFileDiffers() async throws {
        let (scene, mirror) = (try await Scene(), try Origin())
        let other = Content.random(seed: 8, count: 200_000)
        let cases: [(OriginResource, [OriginBehaviour], why: String, size: Int)] = [
            (.file(other, etag: "\"v2\""), [], "etag_changed", 200_000),
            (.file(other, etag: "\"v2\""), [.ignoringConditions], "etag_changed", 200_000),
            (.file(other, etag: nil), [.ignoringConditions], "no_validator", 200_000),
            (.file(other, etag: "W/\"v1\""), [.ignoringConditions], "etag_changed", 200_000),
            (.file(other, etag: nil), [.ignoringRanges], "range_ignored", 200_000),
            (.file(Array(other.prefix(150_000))), [.ignoringConditions], "size_changed", 150_000),
            (.file(Array(other.prefix(100_000)), etag: nil), [.ignoringConditions], "size_changed", 100_000),
        ]
        for (index, (resource, behaviours, why, size)) in cases.enumerated() {
            mirror.serve("/\(index)", resource, behaviours)
            let donor = try await scene.pausedJob()
            let id = try await scene.api.submit([
                "url": .string(mirror.url("/\(index)")), "resume_from": .string(donor),
            ])
            let job = try await scene.api.waitForJob(id, .succeeded)
            #expect(job["resume"] == ["decision": "restarted", "why": .string(why), "offset": 0], "\(index)")
            let told = try await scene.api.events(of: id).filter { $0["type"] == "job.restarted" }
            #expect(told.map { $0["data"]["why"].string } == [why], "\(index)")
            #expect(scene.fetchd.downloaded("\(index)") == Array(other.prefix(size)), "\(index)")
            try await scene.api.act(.cancel, on: donor)
        }
        try await scene.expectStoredParts([])
    }

    @Test func refusesDonorWithoutPartAndStoresNothing() async throws {
        let scene = try await Scene()
        var refused: [String] = []
        for state in [JobState.Kind.queued, .running, .waiting, .succeeded, .cancelled, .failed] {
            refused.append(try await scene.job(in: state))
        }
        refused.append("job_01HZX3K9V7Q2N4R8T6W0YB5CDE")
        let jobs = try await scene.api.get("/v1/jobs").json["jobs"].count
        let events = try await scene.api.events().count
        for donor in refused {
            let answer = try await scene.api.post("/v1/jobs", scene.order("/file", ("resume_from", .string(donor))))
            #expect(answer.status == 409, "\(answer)")
            #expect(answer.problem == .init(kind: "state-conflict", pointer: "/resume_from"))
            #expect(answer.json["detail"].string?.contains(donor) == true)
            let batch = try await scene.api.post(
                "/v1/jobs/batch",
                ["jobs": [scene.order("/file"), scene.order("/file", ("resume_from", .string(donor)))]])
            #expect(batch.status == 409)
            #expect(batch.problem == .init(kind: "state-conflict", pointer: "/jobs/1/resume_from"))
        }
        #expect(try await scene.api.get("/v1/jobs").json["jobs"].count == jobs)
        #expect(try await scene.api.events().count == events)
    }

    /// One part belongs to one job: a batch with two heirs of one donor is refused as a whole.
    @Test func adoptsPartOnlyOnce() async throws {
        let scene = try await Scene()
        let donor = try await scene.pausedJob()
        let order = scene.order("/file", ("resume_from", .string(donor)))
        #expect(try await scene.api.post("/v1/jobs/batch", ["jobs": [order, order]]).status == 409)
        #expect(try await scene.api.resumeData(of: donor)?["bytes_durable"] == 100_000)
        try await scene.expectStoredParts([100_000])
    }

    @Test(.realProcess) func keepsAdoptedPartAfterKill() async throws {
        let scene = try await Scene()
        let donor = try await scene.pausedJob()
        let order = scene.order("/file", ("resume_from", .string(donor)), ("not_before", "2999-01-01T00:00:00Z"))
        let heir = try await scene.api.submit(order)
        let part = try await scene.api.resumeData(of: heir)
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await scene.api.resumeData(of: heir) == part)
        #expect(try await scene.api.resumeData(of: donor) == nil)
        try await scene.expectStoredParts([100_000])
        // Deleting the donor keeps the adopted part.
        #expect(try await scene.api.delete("/v1/jobs/\(donor)").status == 204)
        try await scene.expectStoredParts([100_000])
        try await scene.api.change(heir, ["not_before": nil])
        #expect(try await scene.api.waitForJob(heir, .succeeded)["resume"]["offset"] == 100_000)
    }

    /// A donor that is resumed after its part was adopted starts from the first byte.
    @Test func startsFreshWhenResumedDonorHasGivenItsPartAway() async throws {
        let scene = try await Scene()
        let donor = try await scene.pausedJob()
        let heir = try await scene.api.submit(scene.order("/file", ("resume_from", .string(donor))))
        try await scene.api.waitForJob(heir, .succeeded)
        scene.gate.open()
        try await scene.api.act(.resume, on: donor)
        let job = try await scene.api.waitForJob(donor, .succeeded)
        #expect(job["resume"]["decision"] == "fresh")
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
        #expect(scene.origin.requests(to: "/held").allSatisfy { $0.header("Range") == nil })
    }
}
