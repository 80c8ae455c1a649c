import Base
import CLinux
import Downloads
import Foundation
import Glibc
import HTTPSemantics
import TestKit
import Testing

@testable import Engine

/// Parts whose files are open only during an operation, because descriptors are few.
@Suite struct ClosedPartTests {
    private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private func fixture() throws -> FolderFixture {
        let fixture = try FolderFixture()
        fixture.folder.closeParts()
        return fixture
    }

    private func isOpen(_ name: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasSuffix(name) == true
        }
    }

    @Test func noOperationLeavesTheFileOpen() throws {
        let fixture = try fixture()
        let name = "closed_\(UUID().uuidString)"
        let part = try fixture.part(name, "ab")
        try Array("c".utf8).withUnsafeBytes { try part.write($0, at: 2) }
        try part.sync()
        #expect(part.durable == ByteRanges(prefix: 3))
        #expect(try part.digests([.sha256], isStopped: { false }) == [.sha256: abc])
        #expect(try part.digests([.md5], isStopped: { false }) == [.md5: "900150983cd24fb0d6963f7d28e17f72"])
        try part.trim()
        #expect(fixture.folder.publish([part]) == [nil])
        #expect(fixture.folder.place([try fixture.promotion(of: part, to: "file", size: 3)]).allSatisfy { $0 == nil })
        #expect(fixture.text("file") == "abc")
        #expect(try !isOpen(name + ".part"))
        #expect(try !isOpen("/file"))
    }

    @Test func aStoredPartGoesOnFromItsName() throws {
        let fixture = try fixture()
        try fixture.part("part_1", "ab").sync()
        let stored = Part(
            id: PartID("part_1"), url: "", validators: Validators(), size: 3, ranges: ByteRanges(prefix: 2))
        let continued = RequestPlan.Continued(part: stored, file: nil)
        let folder = fixture.folder
        let part = PartFile(
            stored.id, having: stored.ranges, digesting: [.sha256], diskQueue: fixture.diskQueue, in: folder
        ) { () throws(DiskError) in try continued.open(in: folder) }
        try part.open()
        try Array("c".utf8).withUnsafeBytes { try part.write($0, at: 2) }
        #expect(try part.digests([.sha256], isStopped: { false }) == [.sha256: abc])
    }

    /// Another program removes the file of a part, or replaces it by a file with the same bytes.
    @Test(arguments: [false, true]) func aFileThatWasRemovedOrReplacedTakesNoByte(isReplaced: Bool) throws {
        let fixture = try fixture()
        let part = try fixture.part("part_1", "ab")
        let path = fixture.temporary.path(".incomplete/part_1.part")
        if isReplaced { try Data("ab".utf8).write(to: URL(filePath: path + ".new")) }
        #expect(unlink(path) == 0)
        if isReplaced { #expect(rename(path + ".new", path) == 0) }
        let error = DiskError("open the part, which another program has removed or replaced", code: ESTALE)
        #expect(throws: error) { try Array("c".utf8).withUnsafeBytes { try part.write($0, at: 2) } }
        #expect(part.fault == error)
        #expect(throws: error) { try part.sync() }
        #expect(part.durable.isEmpty)
        #expect(fixture.text(".incomplete/part_1.part") == (isReplaced ? "ab" : nil))
    }

    /// The error of a write can come while the file is closed. The kernel keeps it for the file system.
    @Test func bytesThatWerePendingWhenASyncFailedAreLost() throws {
        let fixture = try fixture()
        let part = try fixture.part("part_1", "abc")
        let path = try Descriptor.open("/", flags: linux_O_PATH, to: "open a path")
        #expect(throws: DiskError.self) { try fixture.folder.syncs.sync(path) }
        #expect(throws: DiskError.self) { try part.sync() }
        #expect(part.durable.isEmpty)
        #expect(part.fault != nil)
    }
}
