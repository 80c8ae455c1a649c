import Formats
import Foundation
import TestKit
import Testing

/// A bucket that fails, freezes or loses its answers, and a service that is killed between any two exchanges with it.
@Suite struct BucketFaultTests {
    private let server: BucketServer
    private let origin: Origin
    private let folder: TemporaryFolder
    private let small = Content.random(seed: 3, count: 5_000)
    private let large = Content.random(seed: 11, count: 20 << 20)

    init() async throws {
        (server, origin, folder) = (try await BucketServer(), try Origin(), try TemporaryFolder())
    }

    private func start(_ parameters: String = "") async throws -> FetchdProcess {
        try await FetchdProcess.start(
            .init(
                arguments: ["--location", server.location("archive", parameters)], environment: server.environment),
            in: folder)
    }

    /// - Returns: the job, and the path of its file.
    private func submit(_ api: APIClient, _ bytes: [UInt8], _ name: String) async throws -> String {
        origin.serve("/\(name)", .file(bytes))
        return try await api.submit([
            "url": .string(origin.url("/\(name)")), "destination": ["location": "archive", "on_conflict": "error"],
        ])
    }

    private func expectOne(_ name: String, _ bytes: [UInt8], _ comment: Comment) async throws {
        let state = try await server.state()
        #expect(state.objects[name] == SHA.hexadecimal(of: bytes), comment)
        #expect(state.created.filter { $0 == name }.count == 1, comment)
        #expect(state.objects.keys.allSatisfy { !$0.contains("(1)") }, comment)
        _ = try await eventually("the end of all uploads") { try await server.state().uploads.isEmpty ? true : nil }
    }

    private static let large = [
        "HeadObject", "CreateMultipartUpload", "UploadPart", "UploadPart", "UploadPart", "CompleteMultipartUpload",
        "HeadObject",
    ]
    private static let small = ["HeadObject", "PutObject", "HeadObject"]

    @Test(arguments: [
        "slow-down", "internal", "close-before", "close-after", "error-in-200", "freeze-before", "freeze-after",
    ])
    func aFaultOfOneRequestDelaysTheJob(_ action: String) async throws {
        let fetchd = try await start()
        for (bytes, requests) in [(small, Self.small), (large, Self.large)] {
            for number in 1...requests.count where !(action == "error-in-200" && requests[number - 1] == "HeadObject") {
                let name = "\(action)-\(requests.count)-\(number)"
                try await server.set(.init(action, number))
                let id = try await submit(fetchd.api, bytes, name)
                if action.hasPrefix("freeze") {
                    _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
                    try await server.set()
                }
                let job = try await fetchd.api.waitForJob(id, .succeeded)
                #expect(job["file"]["path"].string == name)
                try await expectOne(name, bytes, "\(action) at \(requests[number - 1])")
            }
        }
        #expect(origin.requests.count == Self.small.count + Self.large.count - (action == "error-in-200" ? 4 : 0))
        try await fetchd.stop()
    }

    @Test(arguments: ["freeze-before", "freeze-after"])
    func nothingIsLostAndNothingIsHalfIfTheServiceIsKilled(_ action: String) async throws {
        for (bytes, requests) in [(small, Self.small), (large, Self.large)] {
            for number in 1...requests.count {
                let name = "\(action)-\(requests.count)-\(number)"
                let comment: Comment = "\(action) at \(number): \(requests[number - 1])"
                let fetchd = try await start("&connections=1")
                try await server.set(.init(action, number))
                let id = try await submit(fetchd.api, bytes, name)
                _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
                try await fetchd.kill()
                try await server.set()
                try await fetchd.restart()
                let job = try await fetchd.api.waitForJob(id, .succeeded)
                #expect(job["file"]["path"].string == name, comment)
                try await expectOne(name, bytes, comment)
                let ends = try await fetchd.api.events(of: id).filter { $0["type"] == "job.succeeded" }
                #expect(ends.count == 1, comment)
                try await fetchd.stop()
                #expect(folder.files.allSatisfy { !$0.contains("part_") }, comment)
            }
        }
    }

    private static let calls =
        "open,mkdir,write,pwrite64,writev,fdatasync,fsync,syncfs,ftruncate,fallocate,renameat2,linkat,unlink"

    /// Of the calls, each seventh. With `FETCHD_KILL_POINT_STEP=1`, each one.
    private static let step = Int(ProcessInfo.processInfo.environment["FETCHD_KILL_POINT_STEP"] ?? "") ?? 7

    /// - Parameters:
    ///   - size: of the file. The larger one is sent while it arrives.
    ///   - share: one of so many of the calls. The larger file has more of the same calls.
    @Test(arguments: [(9 << 20, 1), (34 << 20, 4)])
    func nothingIsLostIfTheServiceIsKilledAtACallThatChangesAFile(_ size: Int, _ share: Int) async throws {
        let faults = try await DiskFaults()
        let environment = server.environment.merging(faults.environment) { $1 }
        let options = FetchdProcess.Options(
            arguments: ["--location", server.location("archive")], environment: environment)
        let bytes = Content.random(seed: 12, count: size)
        var (call, isEnded) = (1, false)
        while !isEnded {
            let name = "call-\(call)"
            let fetchd = try await FetchdProcess.start(options, in: folder)
            try faults.set("\(Self.calls) \(folder.path) \(call) \(call) KILL")
            origin.serve("/\(name)", .file(bytes))
            let order: JSON = [
                "url": .string(origin.url("/\(name)")), "destination": ["location": "archive", "on_conflict": "error"],
            ]
            let id = try? await fetchd.api.submit(order)
            isEnded = try await eventually("the job to end, or the service to be killed") { () -> Bool? in
                guard fetchd.isRunning else { return false }
                guard let id, let job = try? await fetchd.api.job(id) else { return nil }
                return job["state"] == "succeeded" ? true : nil
            }
            try faults.heal()
            if isEnded { try await fetchd.kill() }
            try await fetchd.restart()
            // A job whose acknowledgement was lost may exist, or not.
            let stored = try await fetchd.api.get("/v1/jobs").json["jobs"].arrayValue ?? []
            let known = id ?? stored.first { $0["url"].string == origin.url("/\(name)") }?["id"].string
            if let known {
                _ = try await fetchd.api.waitForJob(known, .succeeded)
                try await expectOne(name, bytes, "call \(call)")
                let ends = try await fetchd.api.events(of: known).filter { $0["type"] == "job.succeeded" }
                #expect(ends.count == 1, "call \(call)")
            }
            try await fetchd.stop()
            #expect(folder.files.allSatisfy { !$0.contains("part_") }, "call \(call)")
            call += Self.step * share
        }
        #expect(call > 20)
    }

    @Test func partsThatTheBucketHasAreNotSentAgain() async throws {
        let fetchd = try await start("&connections=1")
        try await server.set(.init("freeze-before", 3, "UploadPart"))
        let id = try await submit(fetchd.api, large, "resumed")
        _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
        try await fetchd.kill()
        try await server.set()
        try await fetchd.restart()
        _ = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(try await server.state().log.filter { $0 == "UploadPart" }.count == 1)
        try await expectOne("resumed", large, "resumed")
    }

    @Test func aJobThatIsCancelledLeavesNothing() async throws {
        let fetchd = try await start("&connections=1")
        for action in ["cancel", "delete"] {
            try await server.set(.init("freeze-before", 2, "UploadPart"))
            let id = try await submit(fetchd.api, large, action)
            _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
            #expect(try await server.state().uploads == [action])
            if action == "cancel" {
                #expect(try await fetchd.api.post("/v1/jobs/\(id)/cancel").status == 200)
                _ = try await fetchd.api.waitForJob(id, .cancelled)
            } else {
                #expect(try await fetchd.api.delete("/v1/jobs/\(id)").status == 204)
            }
            _ = try await eventually("the end of its upload") { try await server.state().uploads.isEmpty ? true : nil }
            try await server.set()
        }
        #expect(try await server.state().created.isEmpty)
    }

    /// Without `request_seconds`, this would take a minute.
    @Test(arguments: [5_000, 20 << 20, 40 << 20])
    func theJobSaysHowLongTheBucketMayFail(_ size: Int) async throws {
        let fetchd = try await start()
        try await server.set(.init("slow-down", 0))
        let bytes = Content.random(seed: 5, count: size)
        origin.serve("/later", .file(bytes))
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/later")), "destination": ["location": "archive", "on_conflict": "error"],
            "timeouts": ["request_seconds": 1],
        ])
        let waiting = try await fetchd.api.waitForJob(id, .waiting)
        #expect(waiting["reason"] == "storage")
        try await server.set()
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
        _ = try await fetchd.api.waitForJob(id, .succeeded)
        try await expectOne("later", bytes, "later")
    }

    @Test func aBucketThatIsAwayDelaysItsJobsOnly() async throws {
        let fetchd = try await start()
        let first = try await submit(fetchd.api, small, "first")
        _ = try await fetchd.api.waitForJob(first, .succeeded)
        try await server.set(.init("forbid", 0))
        let id = try await submit(fetchd.api, large, "later")
        let waiting = try await fetchd.api.waitForJob(id, .waiting)
        #expect(waiting["reason"] == "storage")
        #expect(waiting["cause"]["message"].string?.contains("403") == true)
        let other = try await fetchd.api.submit(["url": .string(origin.url("/first"))])
        _ = try await fetchd.api.waitForJob(other, .succeeded)
        try await server.set()
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
        _ = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(origin.requests.filter { $0.path == "/later" && $0.method == "GET" }.count == 1)
        try await expectOne("later", large, "later")
    }
}
