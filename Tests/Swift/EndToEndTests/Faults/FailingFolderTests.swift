import Foundation
import TestKit
import Testing

/// The downloads folder stops working at run time: jobs wait, `/readyz` says why, and jobs continue when the folder
/// works again.
@Suite struct FailingFolderTests {
    private func unreadiness(_ scene: Scene) async throws -> String {
        try await eventually("/readyz to say why") {
            let answer = try await scene.api.get("/readyz")
            return answer.status == 503 ? answer.json["detail"].string : nil
        }
    }

    private func waitUntilReady(_ scene: Scene) async throws {
        _ = try await eventually("/readyz to be 200") { try await scene.api.get("/readyz").status == 200 ? true : nil }
    }

    /// The folder is read-only or its disk fails: as many jobs as there are slots try it, and the others stay queued.
    @Test(arguments: ["EROFS", "EIO"])
    func keepsJobsWaitingWhileFolderCannotBeWritten(_ error: String) async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(
            process: .init(arguments: ["--max-concurrent-jobs", "2"], environment: faults.environment))
        try faults.set("open,mkdir,renameat2 .incomplete 1 - \(error)")
        var ids: [String] = []
        for _ in 0..<20 { ids.append(try await scene.api.submit(scene.order())) }
        let why = try await unreadiness(scene)
        #expect(why.contains("The downloads folder does not work"), "\(why)")
        let counts = try await scene.api.session()["counts"]
        #expect(counts["failed"] == 0)
        let waiting = try await scene.api.get("/v1/jobs?state=waiting").json["jobs"].arrayValue ?? []
        #expect(waiting.allSatisfy { $0["reason"] == "storage" && $0["attempts"] == 0 })
        try faults.heal()
        for id in ids { try await scene.api.waitForJob(id, .succeeded) }
        try await waitUntilReady(scene)
    }

    @Test func failsWithStorageErrorUnlessWaitingForSpace() async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(process: .init(environment: faults.environment))
        try faults.set("open .incomplete/part 1 1 EROFS")
        let id = try await scene.api.submit(scene.order("/file", ("wait_for", [])))
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "storage_error")
    }

    /// Another program removes the folder and creates it again; the service opens the new one.
    @Test func opensReplacedDownloadsFolderAgain() async throws {
        let scene = try await Scene()
        let downloads = scene.fetchd.folder.path("downloads")
        let first = try await scene.api.submit(scene.order())
        try await scene.api.waitForJob(first, .succeeded)
        try FileManager.default.moveItem(atPath: downloads, toPath: downloads + "-away")
        let id = try await scene.api.submit(scene.order())
        _ = try await unreadiness(scene)
        #expect(try await scene.api.job(id)["state"] != "failed")
        try FileManager.default.createDirectory(atPath: downloads, withIntermediateDirectories: false)
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded(try #require(job["file"]["path"].string)) == scene.bytes)
        try await waitUntilReady(scene)
        #expect(try await scene.api.get("/v1/jobs/\(first)/file").status == 410)
    }

    @Test func createsFolderOfPartsAgain() async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(id, atLeast: 100_000)
        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path("downloads/.incomplete"))
        scene.gate.open()
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded(try #require(job["file"]["path"].string)) == scene.bytes)
    }
}
