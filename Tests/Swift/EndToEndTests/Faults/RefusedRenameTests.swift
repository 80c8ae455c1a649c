import Formats
import TestKit
import Testing

/// The file system refuses `RENAME_NOREPLACE`, and the service is killed at each step of the move that replaces it.
@Suite(.realProcess) struct RefusedRenameTests {
    private static let refusal = "renameat2 downloads/here 1 - EINVAL"
    private let faults: DiskFaults
    private let scene: Scene

    init() async throws {
        faults = try await DiskFaults()
        scene = try await Scene(process: .init(environment: faults.environment))
    }

    private func submit() async throws -> String {
        try await scene.api.submit(
            scene.order("/file", ("destination", ["directory": "here", "filename": "a"])))
    }

    private func expectOneFile(of job: String) async throws {
        let job = try await scene.api.waitForJob(job, .succeeded)
        #expect(job["file"]["path"] == "here/a")
        #expect(job["attempts"] == 1)
        #expect(scene.fetchd.downloaded("here/a") == scene.bytes)
        #expect(try await scene.fetchd.partFilesAreRemoved())
        #expect(scene.fetchd.folder.files.filter { $0.hasPrefix("downloads/") } == ["downloads/here/a"])
    }

    @Test func movesTheFileWithALink() async throws {
        try faults.set(Self.refusal)
        try await expectOneFile(of: submit())
        #expect(faults.log.count == 1)
    }

    @Test(arguments: [
        "linkat downloads/here 1 1 KILL", "linkat downloads/here 1 1 KILL-AFTER", "unlink .part$ 1 1 KILL-AFTER",
        "fsync downloads/here$ 1 1 KILL",
    ])
    func continuesAfterAKill(_ kill: String) async throws {
        try faults.set(Self.refusal, kill)
        let id = try await submit()
        _ = try await scene.process.waitForEnd()
        try faults.set(Self.refusal)
        try await scene.process.restart()
        try await expectOneFile(of: id)
        #expect(try await scene.api.events(of: id).filter { $0["type"] == "job.succeeded" }.count == 1)
    }
}
