import Base
import Downloads
import Foundation
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

/// Two processes with the same identity: one of the data folders is a copy of the other one.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct CopiedFolderTests {
    private let fixture: PostgresFixture
    private let node: TestedNode
    private let copy: TemporaryFolder

    init() async throws {
        fixture = try PostgresFixture()
        node = try await TestedNode(fixture)
        copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: node.folder.path("node"), toPath: copy.path("node"))
    }

    @Test func copyIsRefusedWhileTheFirstRuns() async throws {
        do {
            _ = try await TestedNode(fixture, copy, key: node.key)
            Issue.record("the copy is not refused")
        } catch StoreError.folderUnusable(let path, let why) {
            #expect(URL(filePath: path).lastPathComponent == URL(filePath: copy.path).lastPathComponent)
            #expect(why.contains(URL(filePath: node.folder.path).lastPathComponent), "\(why)")
            #expect(why.contains("copy of the data folder of a node that runs in"), "\(why)")
        }
        // The first one is the node as before.
        _ = try await node.create()
        #expect(node.store.node?.epoch == 1 && node.isLost.withLock { $0 } == false)
    }

    /// The folder was moved after the first process had stopped.
    @Test func copyIsTheNodeAfterTheFirstHasStopped() async throws {
        try await node.store.close()
        let moved = try await TestedNode(fixture, copy, key: node.key)
        #expect(moved.store.node == Node(number: node.number, epoch: 2))
    }

    /// The machine of the first process is gone: its lease ends, and is not renewed.
    @Test func copyWaitsForTheEndOfTheLease() async throws {
        try await node.store.close()
        try expire(inMilliseconds: 1500)
        let moved = try await TestedNode(fixture, copy, key: node.key)
        #expect(moved.store.node == Node(number: node.number, epoch: 2))
    }

    /// The lock of the folder shows that the former process has ended.
    @Test func restartInTheSameFolderDoesNotWait() async throws {
        try await node.store.close()
        try expire(inMilliseconds: 3_600_000)
        let again = try await TestedNode(fixture, node.folder, key: node.key)
        #expect(again.store.node == Node(number: node.number, epoch: 2))
    }

    /// Gives the row of the node a lease, as if its process had been killed.
    private func expire(inMilliseconds rest: Int64) throws {
        _ = try fixture.connect().execute(
            PostgresStatement("UPDATE nodes SET expires_at = \(ServerTime.now) + $1", [.int8(rest)]))
    }
}

struct FormerProcessTests {
    private static let process = FormerProcess(
        epoch: 3, expiresAt: 10_000, place: NodePlace(lock: "boot 1:2", machine: "web1", folder: "/data"),
        url: "http://10.0.0.7:8080")

    private static func process(_ change: (inout FormerProcess) -> Void) -> FormerProcess {
        var process = process
        change(&process)
        return process
    }

    @Test(
        arguments: [
            (process, .seconds(1), .undecided),
            // It has renewed its lease.
            (process { $0.expiresAt = 13_000 }, .seconds(3), .lives),
            // The clock of the server was set back, and it has renewed its lease.
            (process { $0.expiresAt = 7000 }, .seconds(3), .lives),
            // A third process has begun.
            (process { $0.epoch = 4 }, .seconds(1), .lives),
            // The clock of the server was set back after the process had died.
            (process, .seconds(14), .hasEnded),
        ] as [(FormerProcess, Duration, FormerProcess.Verdict)])
    func livesIfItRenewsItsLease(_ present: FormerProcess, _ watched: Duration, _ verdict: FormerProcess.Verdict) {
        #expect(Self.process.verdict(on: present, watched: watched) == verdict)
    }

    @Test func refusalNamesBothFolders() {
        let refusal = Self.process.refusal(at: NodePlace(folder: "/copy")).description
        #expect(refusal.hasPrefix("The data folder /copy cannot be used: it is a copy of the data folder of a node"))
        #expect(refusal.contains("in /data on web1, at http://10.0.0.7:8080"))
    }

    @Test(
        arguments: [
            ("boot 1:2", "boot 1:2", true), ("boot 1:2", "boot 1:3", false), ("boot 1:2", "other 1:2", false),
            (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func placeIsALockOfOneStartOfAKernel(_ first: String?, _ second: String?, _ isSame: Bool) {
        #expect(NodePlace(lock: first).isSame(as: NodePlace(lock: second)) == isSame)
    }

    @Test func placeOfAFolderIsStable() throws {
        let (temporary, other) = (try TemporaryFolder(), try TemporaryFolder())
        let first = try NodePlace(of: DataFolder(at: temporary.path))
        #expect(first.lock != nil && first.machine != nil && first.folder != nil)
        #expect(try NodePlace(of: DataFolder(at: temporary.path)) == first)
        #expect(try !NodePlace(of: DataFolder(at: other.path)).isSame(as: first))
    }
}
