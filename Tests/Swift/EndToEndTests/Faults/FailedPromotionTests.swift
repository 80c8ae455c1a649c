import Formats
import Foundation
import TestKit
import Testing

/// The folder's sync fails after the rename: the file never exists twice, and the job does not fail.
@Suite struct FailedPromotionTests {
    @Test(arguments: ["rename", "replace"])
    func repeatsRenameWhoseFolderSyncFailed(_ conflict: String) async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(process: .init(environment: faults.environment))
        try faults.set("fsync downloads/here 1 2 EIO")
        let destination: JSON = ["directory": "here", "filename": "a", "on_conflict": .string(conflict)]
        let id = try await scene.api.submit(scene.order("/file", ("destination", destination)))
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["file"]["path"] == "here/a")
        #expect(job["attempts"] == 1)
        #expect(faults.log.count == 2)
        #expect(scene.fetchd.downloaded("here/a") == scene.bytes)
        #expect(try await scene.fetchd.partFilesAreRemoved())
        #expect(scene.fetchd.folder.files.filter { $0.hasPrefix("downloads/") } == ["downloads/here/a"])
    }

    /// The service is killed while it repeats the sync: the next start continues the promotion.
    @Test func continuesPromotionAfterKillWhenFolderSyncFailed() async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(process: .init(environment: faults.environment))
        try faults.set("fsync downloads/here 1 - EIO")
        let destination: JSON = ["directory": "here", "filename": "a"]
        let id = try await scene.api.submit(scene.order("/file", ("destination", destination)))
        _ = try await eventually("the sync to fail twice") { faults.log.count > 1 ? true : nil }
        #expect(try await scene.api.job(id)["phase"] == "promoting")
        try await scene.process.kill()
        try faults.heal()
        try await scene.process.restart()
        try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded("here/a") == scene.bytes)
        let successes = try await scene.api.events(of: id).filter { $0["type"] == "job.succeeded" }
        #expect(successes.count == 1)
    }

    /// The promoted file is removed while the service is down: its durable bytes are withdrawn.
    @Test func restartsWhenPromotedPartIsGoneAfterKill() async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(process: .init(environment: faults.environment))
        try faults.set("fsync downloads/here 1 - EIO")
        let destination: JSON = ["directory": "here", "filename": "a"]
        let id = try await scene.api.submit(scene.order("/held", ("destination", destination)))
        try await scene.api.waitForBytes(id, atLeast: 100_000)
        #expect(try await scene.api.post("/v1/jobs/\(id)/pause").status == 200)
        #expect(try await scene.api.job(id)["progress"]["bytes_durable"] == 100_000)
        scene.gate.open()
        #expect(try await scene.api.post("/v1/jobs/\(id)/resume").status == 200)
        _ = try await eventually("a sync to fail") { faults.log.isEmpty ? nil : true }
        try await scene.process.kill()
        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path("downloads/here/a"))
        try faults.heal()
        scene.origin.stop()
        try await scene.process.restart()
        let job = try await scene.api.waitForJob(id, .waiting)
        #expect(job["progress"]["bytes_durable"] == 0)
        #expect(try await scene.api.get("/v1/jobs/\(id)/resume-data").status == 404)
    }

    /// Another program removes, truncates or replaces the part during the download.
    @Test(arguments: ["removed", "cut", "replaced"])
    func fetchesFileAgainWhenAnotherProgramChangesPart(_ what: String) async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(id, atLeast: 100_000)
        let part = try #require(scene.fetchd.folder.files.first { $0.hasSuffix(".part") })
        let path = scene.fetchd.folder.path(part)
        switch what {
        case "removed": try FileManager.default.removeItem(atPath: path)
        case "cut": #expect(truncate(path, 10) == 0)
        default:
            let other = try scene.fetchd.folder.write(String(repeating: "x", count: scene.bytes.count), to: "other")
            #expect(rename(other, path) == 0)
        }
        scene.gate.open()
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded(try #require(job["file"]["path"].string)) == scene.bytes)
        #expect(job["resume"]["decision"] != "resumed")
    }
}
