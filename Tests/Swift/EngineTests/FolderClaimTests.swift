import Base
import Downloads
import Foundation
import TestKit
import Testing

@testable import Engine

/// Which services may use one downloads folder.
@Suite struct FolderClaimTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func open(
        _ database: String, shared: Bool = false, hasLocks: Bool = true, node: Int64 = 1
    ) throws(EngineError) -> DownloadsFolder {
        var claim = FolderClaim(database: database, isShared: shared)
        if !hasLocks { claim.lock = { _, _ in ENOLCK } }
        let use = FolderUse(by: Node(number: node, epoch: 1), sharing: .shared) { true }
        return try DownloadsFolder(at: temporary.path, for: shared ? use : .alone, claimedBy: claim)
    }

    private var inUse: EngineError { .downloadsFolderInUse(path: temporary.path) }
    private var uncertain: EngineError { .downloadsFolderUncertain(path: temporary.path) }

    /// - Parameters: whether each of two services shares the folder, and whether they have one database.
    @Test(arguments: [
        (false, false, false), (false, false, true), (true, false, true), (false, true, true), (true, true, false),
    ])
    func secondServiceIsRefused(_ first: Bool, _ second: Bool, _ isOneDatabase: Bool) throws {
        let folder = try open("a", shared: first)
        for _ in 0..<2 {
            #expect(throws: inUse) { try open(isOneDatabase ? "a" : "b", shared: second) }
        }
        folder.release()
        try open(isOneDatabase ? "a" : "b", shared: second).release()
    }

    @Test func claimEndsWithItsFolder() throws {
        _ = try open("a")
        _ = try open("b")
    }

    @Test func servicesOfOneDatabaseShareAFolder() async throws {
        let folders = try await withThrowingTaskGroup(of: DownloadsFolder.self) { group in
            for node in 1...8 { group.addTask { try open("a", shared: true, node: Int64(node)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(throws: inUse) { try open("b", shared: true) }
        #expect(throws: inUse) { try open("a") }
        for folder in folders { folder.release() }
        _ = try open("b", shared: true)
    }

    @Test func withoutLocksTheIdentityDecides() throws {
        let first = try open("a", hasLocks: false)
        _ = try open("a", hasLocks: false)
        for isShared in [false, true] {
            #expect(throws: uncertain) { try open("b", shared: isShared, hasLocks: false) }
        }
        withExtendedLifetime(first) {}
        #expect(uncertain.description.contains("remove \(temporary.path)/.incomplete/lock"))
        #expect(unlink(temporary.path(".incomplete/lock")) == 0)
        _ = try open("b", hasLocks: false)
    }

    /// The other database may need them again.
    @Test func partsOfAnotherDatabaseAreSpared() throws {
        var folder = try open("a")
        #expect(folder.claimedSince == nil)
        _ = try folder.makePart(PartID("part_a"))
        try setTime(of: "part_a", Date().addingTimeInterval(-10))
        folder.release()
        // At every start, not only at the first.
        for _ in 0..<2 {
            folder = try open("b")
            let swept = folder.sweepParts(needed: [:], sparing: folder.claimedSince)
            #expect(swept.spared == 1 && swept.removed == 0)
            folder.release()
        }
        _ = try folder.makePart(PartID("part_b"))
        try setTime(of: "part_b", Date().addingTimeInterval(10))
        folder = try open("b")
        #expect(folder.sweepParts(needed: [:], sparing: folder.claimedSince).removed == 1)
        #expect(folder.hasFile(of: PartID("part_a")))
    }

    private func setTime(of part: String, _ date: Date) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: date], ofItemAtPath: temporary.path(".incomplete/\(part).part"))
    }

    /// Another service may have claimed the folder that was put in the place of the former one.
    @Test func folderThatWasReplacedIsClaimedAgain() throws {
        let folder = try open("a")
        #expect(folder.inspect(byWriting: true) == nil)
        try FileManager.default.removeItem(atPath: temporary.path(".incomplete"))
        let other = try open("b")
        #expect(folder.inspect(byWriting: true)?.code == EBUSY)
        other.release()
        #expect(folder.inspect(byWriting: true) == nil)
        #expect(throws: inUse) { try open("b") }
    }

    /// A lock file that was made by something else is no identity, and a link is not followed.
    @Test func lockFileOfAnotherFormIsReplaced() throws {
        _ = try temporary.write("rubbish", to: ".incomplete/lock")
        try open("a").release()
        let text = temporary.bytes(of: ".incomplete/lock").map { String(decoding: $0, as: UTF8.self) }
        #expect(text?.hasPrefix("fetchd a 0") == true)
        #expect(unlink(temporary.path(".incomplete/lock")) == 0)
        #expect(symlink(temporary.path("elsewhere"), temporary.path(".incomplete/lock")) == 0)
        #expect(throws: EngineError.self) { try open("a") }
        #expect(!FileManager.default.fileExists(atPath: temporary.path("elsewhere")))
    }
}
