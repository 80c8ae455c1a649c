import Foundation
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

/// The identity of a node in its data folder.
struct NodeFileTests {
    private let temporary: TemporaryFolder
    private let folder: DataFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = try DataFolder(at: temporary.path)
    }

    @Test func identifierIsMadeOnce() throws {
        let identifier = try NodeFile.identifier(in: folder)
        #expect(try NodeFile.identifier(in: folder) == identifier)
    }

    /// A new identity would lose the jobs and files of the node.
    @Test func fileThatCannotBeReadIsNotReplaced() throws {
        try FileManager.default.createDirectory(atPath: folder.files.node, withIntermediateDirectories: false)
        try expectUnusable("cannot be read: Is a directory")
    }

    @Test(arguments: ["", "node\n"]) func fileWithoutAnIdentifierIsNotReplaced(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.files.node))
        try expectUnusable("has no identifier")
        #expect(try Data(contentsOf: URL(filePath: folder.files.node)) == Data(text.utf8))
    }

    @Test func linkWithoutItsTargetIsNotReplaced() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.files.node, withDestinationPath: temporary.path("away"))
        try expectUnusable("cannot be read: No such file or directory")
    }

    private func expectUnusable(_ reason: String) throws {
        let error = #expect(throws: StoreError.self) { try NodeFile.identifier(in: folder) }
        guard case .folderUnusable(temporary.path, let why)? = error, why.contains(reason) else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
