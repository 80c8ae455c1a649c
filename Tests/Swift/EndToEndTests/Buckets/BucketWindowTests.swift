import Formats
import Foundation
import TestKit
import Testing

/// Files that go to a bucket while they arrive: the disk has a window of 32 MiB of them.
@Suite struct BucketWindowTests {
    private let server: BucketServer
    private let origin: Origin
    private let folder: TemporaryFolder
    private let bytes = Content.random(seed: 31, count: (60 << 20) + 77)

    init() async throws {
        (server, origin, folder) = (try await BucketServer(), try Origin(), try TemporaryFolder())
    }

    private func options(_ parameters: String = "") -> FetchdProcess.Options {
        .init(arguments: ["--location", server.location("archive", parameters)], environment: server.environment)
    }

    private func submit(_ api: APIClient, _ name: String, _ members: (String, JSON)...) async throws -> String {
        var order: JSONObject = [
            "url": .string(origin.url("/\(name)")), "destination": ["location": "archive"],
            "retry": ["base_seconds": 0.1],
        ]
        for (name, value) in members { order[name] = value }
        return try await api.submit(.object(order))
    }

    private func expectOne(_ id: String, _ path: String, _ api: APIClient) async throws {
        let job = try await api.waitForJob(id, .succeeded)
        let digest = SHA.hexadecimal(of: bytes)
        #expect(job["file"]["sha256"].string == digest && job["file"]["path"].string == path)
        let state = try await server.state()
        #expect(state.objects[path] == digest && state.created.filter { $0 == path }.count == 1)
        _ = try await eventually("the end of all uploads") { try await server.state().uploads.isEmpty ? true : nil }
        #expect(folder.files.allSatisfy { !$0.contains("part_") })
    }

    private func waitForParts(_ count: Int) async throws {
        _ = try await eventually("\(count) parts") {
            try await server.state().log.count { $0 == "UploadPart" } >= count ? true : nil
        }
    }

    /// Runs a program with 44 MB for the downloads.
    private static let launcher = [
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        """
        mkdir -p "$0/downloads" && mount -t tmpfs -o size=44m tmpfs "$0/downloads" || exit 1
        exec setpriv --pdeathsig KILL -- "$@"
        """,
    ]

    @Test(arguments: [1, 4]) func aFileIsLargerThanTheDisk(_ connections: Int) async throws {
        var options = options()
        options.launcher = Self.launcher + [folder.path]
        let fetchd = try await FetchdProcess.start(options, in: folder)
        origin.serve("/film", .file(bytes))
        let id = try await submit(
            fetchd.api, "film", ("connections", .count(connections)),
            ("checksum", ["algorithm": "sha-256", "value": .string(SHA.hexadecimal(of: bytes))]))
        try await expectOne(id, "film", fetchd.api)
        #expect(try await fetchd.api.get("/v1/jobs/\(id)/file").body == bytes)
        try await fetchd.stop()
    }

    /// Its parts have 64 MiB, and a smaller file has no parts before its end is known.
    @Test(arguments: [0, 20 << 20, 65 << 20]) func theSizeIsNotKnown(_ size: Int) async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let gate = Gate()
        let bytes = Content.random(seed: 33, count: size)
        origin.serve("/film", .file(bytes), .chunked(), .waiting(at: max(0, size - 1000), for: gate))
        let id = try await submit(fetchd.api, "film")
        if size > 64 << 20 { try await waitForParts(1) }
        gate.open()
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["file"]["sha256"].string == SHA.hexadecimal(of: bytes))
        let state = try await server.state()
        #expect(state.objects == ["film": SHA.hexadecimal(of: bytes)] && state.uploads.isEmpty)
        try await fetchd.stop()
    }

    @Test func aSlowBucketPausesTheTransfer() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        origin.serve("/film", .file(bytes))
        try await server.set(.init("freeze-before", 0, "UploadPart"))
        let id = try await submit(fetchd.api, "film")
        _ = try await eventually("a full window") {
            try await fetchd.api.job(id)["progress"]["bytes_received"].integer ?? 0 > 31 << 20 ? true : nil
        }
        // Jobs for the disk go on.
        let other = try await fetchd.api.submit(["url": .string(origin.url("/film")), "tags": ["disk"]])
        try await fetchd.api.waitForJob(other, .succeeded)
        let waiting = try await fetchd.api.job(id)
        #expect(waiting["state"] == "running" && waiting["progress"]["bytes_received"].integer ?? 0 <= 32 << 20)
        try await server.set()
        try await expectOne(id, "film", fetchd.api)
        try await fetchd.stop()
    }

    /// The bucket keeps what it has, and no digest needs the bytes again.
    @Test(arguments: ["kill", "pause"]) func aTransferGoesOnAfterAnInterruption(_ how: String) async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let gate = Gate()
        origin.serve("/film", .file(bytes), .waiting(at: 40 << 20, for: gate))
        let id = try await submit(fetchd.api, "film")
        _ = try await eventually("durable bytes") {
            try await fetchd.api.job(id)["progress"]["bytes_durable"].integer ?? 0 >= 40 << 20 ? true : nil
        }
        try await waitForParts(5)
        if how == "kill" {
            try await fetchd.kill()
        } else {
            _ = try await fetchd.api.post("/v1/jobs/\(id)/pause")
            _ = try await fetchd.api.waitForJob(id, .paused)
            try await fetchd.stop()
        }
        gate.open()
        try await fetchd.restart()
        if how == "pause" { _ = try await fetchd.api.post("/v1/jobs/\(id)/resume") }
        try await expectOne(id, "film", fetchd.api)
        let ranges = origin.requests.map { $0.headers.first { $0.name.lowercased() == "range" }?.value }
        #expect(ranges.last == "bytes=\(40 << 20)-")
        #expect(try await server.state().log.count { $0 == "UploadPart" } <= 9)
        try await fetchd.stop()
    }

    /// - Returns: a paused job whose first bytes are in the bucket only.
    private func paused(_ fetchd: FetchdProcess) async throws -> String {
        let gate = Gate()
        origin.serve(
            "/film", .file(Content.random(seed: 32, count: bytes.count), etag: "\"v0\""),
            .waiting(at: 40 << 20, for: gate))
        let id = try await submit(fetchd.api, "film")
        try await waitForParts(4)
        _ = try await fetchd.api.post("/v1/jobs/\(id)/pause")
        _ = try await fetchd.api.waitForJob(id, .paused)
        gate.open()
        origin.serve("/film", .file(bytes))
        return id
    }

    @Test func anotherFileRestartsBothSides() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let id = try await paused(fetchd)
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
        try await expectOne(id, "film", fetchd.api)
        #expect(try await fetchd.api.job(id)["resume"]["decision"] == "restarted")
        try await fetchd.stop()
    }

    @Test func anotherLocationRestartsTheTransfer() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let id = try await paused(fetchd)
        _ = try await fetchd.api.send("PATCH", "/v1/jobs/\(id)", ["destination": ["location": "default"]])
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["file"]["sha256"].string == SHA.hexadecimal(of: bytes) && job["resume"]["why"] == "part_missing")
        #expect(try await server.state().created.isEmpty)
        // A start removes what no job needs.
        try await fetchd.stop()
        try await fetchd.restart()
        _ = try await eventually("the end of all uploads") { try await server.state().uploads.isEmpty ? true : nil }
        try await fetchd.stop()
    }

    @Test func anotherNameRestartsBothSides() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let gate = Gate()
        origin.serve("/film", .file(bytes), .waiting(at: 40 << 20, for: gate))
        let id = try await submit(fetchd.api, "film")
        try await waitForParts(4)
        _ = try await fetchd.api.post("/v1/jobs/\(id)/pause")
        _ = try await fetchd.api.waitForJob(id, .paused)
        _ = try await fetchd.api.send(
            "PATCH", "/v1/jobs/\(id)", ["destination": ["location": "archive", "filename": "b"]])
        gate.open()
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
        try await expectOne(id, "b", fetchd.api)
        try await fetchd.stop()
    }

    @Test func anotherJobContinuesWithTheBytes() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let gate = Gate()
        origin.serve("/film", .file(bytes), .waiting(at: 40 << 20, for: gate))
        let donor = try await submit(fetchd.api, "film")
        try await waitForParts(5)
        _ = try await fetchd.api.post("/v1/jobs/\(donor)/cancel", ["produce_resume_data": true])
        _ = try await fetchd.api.waitForJob(donor, .cancelled)
        gate.open()
        let heir = try await submit(fetchd.api, "film", ("resume_from", .string(donor)))
        try await expectOne(heir, "film", fetchd.api)
        #expect(try await fetchd.api.job(heir)["resume"]["decision"] == "resumed")
        #expect(try await server.state().log.count { $0 == "UploadPart" } <= 9)
        try await fetchd.stop()
    }

    @Test func theWholeFileIsKeptIfTheJobAsksForIt() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let gate = Gate()
        origin.serve("/film", .file(bytes), .waiting(at: 58 << 20, for: gate))
        let id = try await submit(fetchd.api, "film", ("destination", ["location": "archive", "staging": "whole"]))
        _ = try await eventually("the bytes") {
            try await fetchd.api.job(id)["progress"]["bytes_received"].integer ?? 0 >= 58 << 20 ? true : nil
        }
        #expect(try await server.state().uploads.isEmpty)
        gate.open()
        try await expectOne(id, "film", fetchd.api)
        try await fetchd.stop()
    }

    @Test func aBucketThatLosesTheUploadGetsTheFileAgain() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        let gate = Gate()
        origin.serve("/film", .file(bytes), .waiting(at: 40 << 20, for: gate))
        let id = try await submit(fetchd.api, "film")
        try await waitForParts(5)
        try await server.loseUploads()
        gate.open()
        try await expectOne(id, "film", fetchd.api)
        try await fetchd.stop()
    }

    @Test func aWrongChecksumLeavesNothing() async throws {
        let fetchd = try await FetchdProcess.start(options(), in: folder)
        origin.serve("/film", .file(bytes))
        let wrong = SHA.hexadecimal(of: [1])
        // The disk has room, so the file is verified before it is sent.
        let id = try await submit(fetchd.api, "film", ("checksum", ["algorithm": "sha-256", "value": .string(wrong)]))
        #expect(try await fetchd.api.waitForJob(id, .failed)["failure"]["code"] == "checksum_mismatch")
        let state = try await server.state()
        #expect(state.created.isEmpty && !state.log.contains("UploadPart"))
        try await fetchd.stop()
    }

    /// The service is killed after the last part, and before the plan of the promotion. Nothing of the file is on the disk then.
    @Test func theBucketHasAllBytesAtACrash() async throws {
        let faults = try await DiskFaults()
        var options = options("&connections=1")
        options.environment.merge(faults.environment) { $1 }
        let fetchd = try await FetchdProcess.start(options, in: folder)
        // Slow enough for a checkpoint of the part.
        origin.serve("/film", .file(bytes), .limited(bytesPerSecond: 15 << 20))
        try faults.set("fallocate \(folder.path) 8 8 KILL-AFTER")
        let id = try await submit(fetchd.api, "film")
        _ = try await eventually("the end of the service") { fetchd.isRunning ? nil : true }
        try faults.heal()
        try await fetchd.restart()
        try await expectOne(id, "film", fetchd.api)
        #expect(try await server.state().log.count { $0 == "UploadPart" } == 8)
        #expect(origin.requests.count == 1)
        try await fetchd.stop()
    }

    private static let requests =
        ["HeadObject", "CreateMultipartUpload"] + [String](repeating: "UploadPart", count: 8)
        + ["CompleteMultipartUpload", "HeadObject"]

    @Test(arguments: ["freeze-before", "freeze-after"])
    func nothingIsLostIfTheServiceIsKilledBetweenTwoExchanges(_ action: String) async throws {
        origin.serve("/film", .file(bytes))
        for number in 1...Self.requests.count {
            let fetchd = try await FetchdProcess.start(options("&connections=1"), in: folder)
            try await server.set(.init(action, number))
            let name = "\(action)-\(number)"
            let id = try await submit(
                fetchd.api, "film",
                ("destination", ["location": "archive", "filename": .string(name), "on_conflict": "error"]))
            _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
            try await fetchd.kill()
            try await server.set()
            try await fetchd.restart()
            try await expectOne(id, name, fetchd.api)
            let ends = try await fetchd.api.events(of: id).filter { $0["type"] == "job.succeeded" }
            #expect(ends.count == 1, "\(action) at \(number)")
            try await fetchd.stop()
        }
    }
}
