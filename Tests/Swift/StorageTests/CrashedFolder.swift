import Foundation
import GRDB
import TestKit

@testable import Storage
@testable import StorageSQLite

/// A data folder as SIGKILL leaves it: all commits are in the log.
struct CrashedFolder {
    let folder: TemporaryFolder
    /// The names and bytes of the files.
    let files: [String: [UInt8]]

    static let database = "fetchd.sqlite"
    static let log = "fetchd.sqlite-wal"
    static let mark = "fetchd.mark"

    /// - Parameter prepare: writes to the store before the crash.
    init(_ prepare: (StoreFixture) async throws -> Void) async throws {
        let fixture = try StoreFixture()
        try await prepare(fixture)
        try self.init(copying: fixture.folder)
    }

    /// A folder with three acknowledged jobs.
    static func withJobs() async throws -> CrashedFolder {
        try await CrashedFolder { fixture in for _ in 0..<3 { _ = try await fixture.create() } }
    }

    init(copying original: TemporaryFolder) throws {
        folder = try TemporaryFolder()
        var files: [String: [UInt8]] = [:]
        for name in original.files where !name.hasSuffix("-shm") && name != "lock" {
            files[name] = original.bytes(of: name)
            try Data(files[name] ?? []).write(to: URL(filePath: folder.path(name)))
        }
        self.files = files
    }

    func path(_ name: String) -> String { folder.path(name) }
    func bytes(of name: String) throws -> [UInt8] { files[name] ?? [] }

    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    /// All files but the lock.
    var contents: [String: [UInt8]] {
        let names = folder.files.filter { $0 != "lock" }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, folder.bytes(of: $0) ?? []) })
    }

    func open() throws -> Store { try Store(at: folder.path) }
}
