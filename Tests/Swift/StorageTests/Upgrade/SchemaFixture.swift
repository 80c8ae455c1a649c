import Foundation
import GRDB
import Sealing
import TestKit

@testable import Storage

/// The database of one schema version with data in every table, as an earlier fetchd left it: `Tests/Fixtures/schemas/NN.sql`.
/// `Tests/Fixtures/write` writes that of the latest version.
struct SchemaFixture {
    let version: Int

    /// A moment shortly after the last time in the fixtures.
    static let time = ManualTime(Date(milliseconds: 1_566_229_000_000), boot: "later")

    static let folder = Project.root.appending(path: "Tests/Fixtures/schemas")

    private var file: URL { Self.folder.appending(path: String(format: "%02d.sql", version)) }

    static var all: [SchemaFixture] { (Schema.baseline...Schema.latest).map(SchemaFixture.init) }

    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// A data folder with this database and the key of its secrets.
    func open() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try load(into: folder.path)
        return folder
    }

    func load(into folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try DatabaseDump.load(String(contentsOf: file, encoding: .utf8), into: folder + "/fetchd.sqlite")
        try Self.writeKey(into: folder)
    }

    static func writeKey(into folder: String) throws {
        let key = try Data(contentsOf: Self.folder.appending(path: "key"))
        let path = folder + "/fetchd.key"
        try key.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    func write(_ path: String) throws {
        let text = try DatabaseQueue(path: path).read(DatabaseDump.text)
        try Data(text.utf8).write(to: file)
    }
}
