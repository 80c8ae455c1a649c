import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Every schema version since that of fetchd 0.2.0 can be upgraded, with all of its data.
@Suite struct UpgradeTests {
    /// A new migration needs a fixture: `Tests/Fixtures/write` writes it.
    @Test func everySchemaVersionHasAFixture() {
        let missing = SchemaFixture.all.filter { !$0.exists }.map(\.version)
        #expect(missing.isEmpty, "Run Tests/Fixtures/write, and commit Tests/Fixtures/schemas.")
    }

    @Test(arguments: SchemaFixture.all.map(\.version)) func keepsAllDataOfTheVersion(_ version: Int) async throws {
        let folder = try SchemaFixture(version: version).open()
        let path = folder.path("fetchd.sqlite")
        let before = try await DatabaseQueue(path: path).read { try StoredRows(readFrom: $0) }
        #expect(before.counts["jobs"] ?? 0 >= 8 && before.counts["deliveries"] ?? 0 >= 4)
        let store = try Store(at: folder.path, time: SchemaFixture.time)
        let after = try await store.read { try StoredRows(readFrom: $0.sqlite) }
        for difference in before.differences(to: after) { Issue.record("\(difference)") }
        #expect(try await store.read { try Schema.number(of: $0.sqlite) } == Schema.latest)
        #expect(try await store.read { try IntegrityCheck.findings(in: $0.sqlite) }.isEmpty)
        #expect(try await store.compareCounts().drifts.isEmpty)
        try await store.expectDataOfFixture(jobs: before.counts["jobs"] ?? 0)
        try await store.close()
    }

    @Test(arguments: SchemaFixture.all.map(\.version)) func continuesWithTheData(_ version: Int) async throws {
        let folder = try SchemaFixture(version: version).open()
        let store = try Store(at: folder.path, time: SchemaFixture.time)
        try await store.expectToContinue()
        try await store.close()
    }

    @Test(arguments: SchemaFixture.all.map(\.version))
    func keepsACopyOfTheDatabaseBeforeTheUpgrade(_ version: Int) async throws {
        let folder = try SchemaFixture(version: version).open()
        let before = try await DatabaseQueue(path: folder.path("fetchd.sqlite")).read { try StoredRows(readFrom: $0) }
        try await Store(at: folder.path, time: SchemaFixture.time).close()
        let copies = folder.files.filter { $0.contains(".schema-") }
        guard version < Schema.latest else { return #expect(copies.isEmpty) }
        #expect(copies == ["fetchd.sqlite.schema-\(version)"])
        let copy = try DatabaseQueue(path: folder.path(copies[0]))
        let kept = try await copy.read { try StoredRows(readFrom: $0) }
        #expect(before.differences(to: kept).isEmpty && kept.differences(to: before).isEmpty)
        try copy.close()
        // The version before restores it like a backup.
        #expect(try Restoration.run(folder.path(copies[0]), into: folder.path).jobs == before.counts["jobs"])
    }

    @Test func aSecondStartAfterAnInterruptedUpgradeKeepsTheFirstCopy() async throws {
        let folder = try SchemaFixture(version: Schema.baseline).open()
        let connections = try Connections(path: folder.path("fetchd.sqlite"), readers: 1)
        let log = LogRecord()
        try UpgradeCopy(folder: DataFolder(at: folder.path), log: log.logger).make(connections, largest: .max)
        let first = folder.files.filter { $0.contains(".schema-") }
        #expect(first.count == 1 && log.text.contains("keeps a copy"))
        // As if the first migrations of the upgrade had been committed before a kill.
        let renamed = folder.path("fetchd.sqlite.schema-9")
        try FileManager.default.moveItem(atPath: folder.path(first[0]), toPath: renamed)
        try UpgradeCopy(folder: DataFolder(at: folder.path), log: log.logger).make(connections, largest: .max)
        #expect(folder.files.filter { $0.contains(".schema-") } == ["fetchd.sqlite.schema-9"])
        try connections.close()
    }

    @Test func upgradesALargeDatabaseWithoutACopyAndSaysSo() async throws {
        let folder = try SchemaFixture(version: Schema.baseline).open()
        let log = LogRecord()
        var options = Store.Options()
        (options.largestUpgradeCopy, options.log) = (1000, log.logger)
        try await Store(at: folder.path, options: options, time: SchemaFixture.time).close()
        #expect(!folder.files.contains { $0.contains(".schema-") })
        #expect(log.text.contains("without a copy: the database is large"))
    }
}
