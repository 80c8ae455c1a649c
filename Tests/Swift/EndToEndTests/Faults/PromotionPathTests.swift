import Formats
import Foundation
import TestKit
import Testing

/// Another program changes the names of folders and parts in the middle of a promotion. Nothing outside the downloads
/// folder is touched.
@Suite(.realProcess) struct PromotionPathTests {
    private let faults: DiskFaults
    private let scene: Scene
    private let outside: TemporaryFolder

    init() async throws {
        faults = try await DiskFaults()
        scene = try await Scene(process: .init(environment: faults.environment))
        outside = try TemporaryFolder()
        try outside.write("precious", to: "precious")
    }

    private func downloads(_ name: String) -> String { scene.fetchd.folder.path("downloads/\(name)") }

    /// Submits a job, and returns while its rename waits. It waits until the faults are healed.
    private func jobBeforeRename() async throws -> String {
        try faults.set("renameat2 downloads/here 1 1 HOLD")
        let id = try await scene.api.submit(
            scene.order("/file", ("destination", ["directory": "here", "filename": "a"])))
        _ = try await eventually("the rename to begin") { faults.log.isEmpty ? nil : true }
        return id
    }

    private func expectOutsideUntouched(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(outside.bytes(of: "precious") == Array("precious".utf8), sourceLocation: sourceLocation)
    }

    /// The file would leave the downloads folder with it.
    @Test func takesTheFileBackFromAFolderThatWasMovedAway() async throws {
        let id = try await jobBeforeRename()
        #expect(rename(downloads("here"), outside.path("moved")) == 0)
        #expect(symlink(outside.path, downloads("here")) == 0)
        try faults.heal()
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "destination_invalid", "\(job.written)")
        #expect(outside.files == ["precious"])
        expectOutsideUntouched()
        // The bytes are kept.
        #expect(unlink(downloads("here")) == 0)
        scene.origin.stop()
        let again = try await scene.api.act(.retry, on: id)
        #expect(again["progress"]["bytes_durable"] == .integer(Int64(scene.bytes.count)))
    }

    @Test func doesNotPromoteALinkInThePlaceOfThePart() async throws {
        let id = try await jobBeforeRename()
        let part = scene.fetchd.folder.path(try #require(scene.fetchd.folder.files.first { $0.hasSuffix(".part") }))
        #expect(unlink(part) == 0)
        #expect(symlink(outside.path("precious"), part) == 0)
        try faults.heal()
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["attempts"] == 2)
        #expect(scene.fetchd.downloaded("here/a") == scene.bytes)
        expectOutsideUntouched()
    }
}
