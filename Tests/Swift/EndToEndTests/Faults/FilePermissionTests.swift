import Formats
import Foundation
import TestKit
import Testing

/// `--file-mode` and `--directory-mode`, and what a power loss leaves of them.
@Suite(.realProcess) struct FilePermissionTests {
    private func mode(_ scene: Scene, _ name: String) -> UInt32? {
        var status = stat()
        return lstat(scene.fetchd.folder.path("downloads/\(name)"), &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private static func withMask(_ mask: String) -> [String] { ["/bin/sh", "-c", "umask \(mask); exec \"$0\" \"$@\""] }

    private func download(_ scene: Scene) async throws {
        let order = scene.order("/file", ("destination", ["directory": "new/inner", "filename": "a"]))
        try await scene.api.waitForJob(scene.api.submit(order), .succeeded)
    }

    @Test(arguments: ["077", "000", "022"]) func statedPermissionsDoNotDependOnTheUmask(_ mask: String) async throws {
        let scene = try await Scene(
            process: .init(
                arguments: ["--file-mode", "0640", "--directory-mode", "0750"], launcher: Self.withMask(mask)))
        try await download(scene)
        #expect([mode(scene, "new"), mode(scene, "new/inner"), mode(scene, "new/inner/a")] == [0o750, 0o750, 0o640])
    }

    @Test(
        arguments: [("077", 0o700, 0o600), ("027", 0o750, 0o640), ("000", 0o755, 0o666)] as [(String, UInt32, UInt32)])
    func defaultPermissionsFollowTheUmask(_ mask: String, _ folder: UInt32, _ file: UInt32) async throws {
        let scene = try await Scene(process: .init(launcher: Self.withMask(mask)))
        try await download(scene)
        #expect([mode(scene, "new"), mode(scene, "new/inner"), mode(scene, "new/inner/a")] == [folder, folder, file])
    }

    /// The last sync of the bytes also makes the permissions durable: fsync, because fdatasync does not cover them.
    @Test func permissionsAreSetBeforeTheLastSync() async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(
            process: .init(arguments: ["--file-mode", "0644"], environment: faults.environment))
        try faults.set("fsync .part$ 1 1 KILL")
        let id = try await scene.api.submit(scene.order())
        _ = try await scene.process.waitForEnd()
        let parts = try FileManager.default.contentsOfDirectory(
            atPath: scene.fetchd.folder.path("downloads/.incomplete")
        ).filter { $0 != "lock" }
        #expect(parts.count == 1)
        #expect(try mode(scene, ".incomplete/\(#require(parts.first))") == 0o644)
        try faults.heal()
        try await scene.process.restart()
        try await scene.api.waitForJob(id, .succeeded)
        #expect(mode(scene, "file") == 0o644)
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
    }
}
