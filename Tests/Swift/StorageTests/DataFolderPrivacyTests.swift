import Foundation
import Glibc
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Other users of the machine cannot read the data folder: it holds passwords, tokens and webhook secrets.
@Suite struct DataFolderPrivacyTests {
    private static let files = [
        "fetchd.key", "fetchd.mark", "fetchd.sqlite", "fetchd.sqlite-shm", "fetchd.sqlite-wal", "lock",
    ]

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0, "\(path)")
        return status.st_mode & 0o777
    }

    private func expectPrivate(_ folder: String) throws {
        #expect(try mode(folder) == 0o700)
        for file in Self.files { #expect(try mode("\(folder)/\(file)") == 0o600, "\(file)") }
    }

    @Test func createsTheFolderForItsUserAlone() async throws {
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.path("data"))
        try expectPrivate(folder.path("data"))
        try await store.close()
    }

    /// `StateDirectory=` of systemd creates a folder that everyone can read.
    @Test func takesThePermissionsOfOthersFromAnExistingFolder() async throws {
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        try await Store(at: data).close()
        try folder.write("of another program", to: "data/other")
        for file in ["lock", "fetchd.mark", "fetchd.sqlite", "other"] { chmod("\(data)/\(file)", 0o644) }
        chmod(data, 0o755)
        let store = try Store(at: data)
        try expectPrivate(data)
        #expect(try mode("\(data)/other") == 0o644)
        try await store.close()
    }

    @Test func keepsTheFilesOfARestorePrivate() async throws {
        let folder = try TemporaryFolder()
        try await Store(at: folder.path("old")).close()
        try await Store(at: folder.path("data")).close()
        chmod(folder.path("old/fetchd.sqlite"), 0o644)
        _ = try Restoration.run(folder.path("old/fetchd.sqlite"), into: folder.path("data"))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path("data")) {
            #expect(try mode(folder.path("data/\(name)")) == 0o600, "\(name)")
        }
    }
}
