import Downloads
import Foundation
import PostgresClient
import Storage
import TestKit
import Testing

@testable import Engine

/// Files that other nodes have dropped.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct FileRemoverTests {
    private let database: PostgresFixture
    private let fixture: MaintenanceFixture

    init() throws {
        database = try PostgresFixture()
        fixture = try MaintenanceFixture(in: database)
    }

    /// Another node has dropped these parts.
    private func drop(_ names: [String]) throws {
        let number = try #require(fixture.store.node?.number)
        let rows = names.map { "(\(number), 'part', '\($0)')" }.joined(separator: ", ")
        try database.connect().execute(script: "INSERT INTO file_deletions (node, kind, name) VALUES \(rows)")
    }

    @Test func removesAndForgetsThem() async throws {
        let part = try fixture.makePart("part_A-1.1")
        try drop(["part_A-1.1", "part_B-1.1"])
        #expect(try await fixture.services.removeDroppedFiles() == nil)
        #expect(!fixture.hasFile(of: part))
        #expect(try await fixture.store.removals().isEmpty)
    }

    /// More files than a page has cannot be removed: the names are those of folders.
    @Test func filesThatStayDoNotDelayOthers() async throws {
        let staying = (1...1001).map { String(format: "part_%04d-1.1", $0) }
        for name in staying {
            let path = fixture.temporary.path("downloads/\(FilePathRule.partsDirectory)/\(name).part")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let part = try fixture.makePart("part_Z-1.1")
        try drop(staying + ["part_Z-1.1"])
        let next = try await fixture.services.removeDroppedFiles()
        #expect(!fixture.hasFile(of: part))
        #expect(next == fixture.now.addingTimeInterval(60))
        let warnings = fixture.log.text.split(separator: "\n").filter { $0.contains("cannot be removed") }
        #expect(warnings.count == 1 && warnings[0].contains("1001 files"), "\(warnings)")
    }
}
