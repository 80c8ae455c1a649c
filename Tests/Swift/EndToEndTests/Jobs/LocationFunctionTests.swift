import Formats
import Foundation
import TestKit
import Testing

/// What the functions of the service mean for locations: a folder, and a bucket.
@Suite struct LocationFunctionTests {
    private let server: BucketServer
    private let folder: TemporaryFolder

    init() async throws { (server, folder) = (try await BucketServer(), try TemporaryFolder()) }

    private func options(_ further: [String] = []) -> FetchdProcess.Options {
        .init(
            arguments: ["--location", "films=\(folder.path("films"))", "--location", server.location("archive")]
                + further,
            environment: server.environment)
    }

    private func submit(_ scene: Scene, to location: String, _ members: (String, JSON)...) async throws -> String {
        var order = scene.order("/file", ("destination", ["location": .string(location)])).objectValue ?? [:]
        for (name, value) in members { order[name] = value }
        return try await scene.api.submit(.object(order))
    }

    @Test func theSizeOfASessionCountsItsFilesInAllLocations() async throws {
        let scene = try await Scene(process: options(), in: folder)
        try await scene.api.declareSession("small", ["max_total_size": 500_000])
        for location in ["films", "archive"] {
            let id = try await submit(scene, to: location, ("session", "small"))
            _ = try await scene.api.waitForJob(id, .succeeded)
        }
        for location in ["default", "films", "archive"] {
            let id = try await submit(scene, to: location, ("session", "small"))
            #expect(try await scene.api.waitForJob(id, .failed)["failure"]["code"] == "too_large")
        }
        #expect(try await server.state().created == ["file"])
    }

    @Test func filesOfFinishedJobsAreRemovedFromTheirLocations() async throws {
        let scene = try await Scene(
            process: options([
                "--finished-retention", "1", "--unacknowledged-retention", "1", "--event-retention", "1",
                "--finished-retention-files", "delete",
            ]), in: folder)
        var ids: [String] = []
        for location in ["films", "archive", "default"] {
            ids.append(try await submit(scene, to: location))
            _ = try await scene.api.waitForJob(ids.last ?? "", .succeeded)
        }
        for id in ids {
            _ = try await eventually("the removal of \(id)") {
                try await scene.api.get("/v1/jobs/\(id)").status == 404 ? true : nil
            }
        }
        #expect(try await server.state().objects.isEmpty)
        #expect(folder.files.allSatisfy { !$0.hasSuffix("/file") })
    }

    @Test func aBackupHasTheLocationsOfItsJobs() async throws {
        let scene = try await Scene(process: options(), in: folder)
        var files: [String: String] = [:]
        for location in ["films", "archive"] {
            let id = try await submit(scene, to: location)
            _ = try await scene.api.waitForJob(id, .succeeded)
            files[location] = id
        }
        let open = try await submit(scene, to: "archive", ("state", "paused"))
        let copy = folder.path("copy.sqlite")
        let data = ["--data-dir", folder.path("data")]
        #expect(try await FetchdProcess.run(["backup", copy] + data).succeeded)
        try await scene.process.stop()
        try FileManager.default.removeItem(atPath: folder.path("data/fetchd.sqlite"))
        #expect(try await FetchdProcess.run(["restore", copy] + data).succeeded)
        try await scene.process.restart()
        for (location, id) in files {
            #expect(try await scene.api.job(id)["file"]["location"].string == location)
            #expect(try await scene.api.get("/v1/jobs/\(id)/file").body == scene.bytes)
        }
        _ = try await scene.api.post("/v1/jobs/\(open)/resume")
        #expect(try await scene.api.waitForJob(open, .succeeded)["file"]["path"] == "file (1)")
    }

    @Test func anExportedJobKeepsItsLocation() async throws {
        let scene = try await Scene(process: options(), in: folder)
        for location in ["films", "archive"] { _ = try await submit(scene, to: location, ("state", "paused")) }
        let exported = try await FetchdProcess.run(["export", "--data-dir", folder.path("data")])
        let file = folder.path("queue.jsonl")
        try Data(exported.output.utf8).write(to: URL(filePath: file))
        let without = try await FetchdProcess.start()
        let refused = try await FetchdProcess.run(["import", file], environment: ["FETCHD_URL": without.baseURL])
        #expect(!refused.succeeded && refused.errors.contains("which no option declares"), "\(refused)")
        let other = try await FetchdProcess.start(options())
        let taken = try await FetchdProcess.run(["import", file], environment: ["FETCHD_URL": other.baseURL])
        #expect(taken.succeeded, "\(taken)")
        let jobs = try await other.api.get("/v1/jobs").json["jobs"].arrayValue ?? []
        #expect(Set(jobs.compactMap { $0["destination"]["location"].string }) == ["films", "archive"])
    }
}
