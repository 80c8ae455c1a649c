import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

/// Every schema version that fetchd has had can be upgraded, with all of its data.
@Suite struct UpgradeTests {
    /// A new migration needs a fixture: `scripts/schema-fixtures` writes it.
    @Test func everySchemaVersionHasAFixture() {
        let missing = SchemaFixture.all.filter { !$0.exists }.map(\.version)
        #expect(missing.isEmpty, "Run scripts/schema-fixtures, and commit Tests/Fixtures/schemas.")
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
        try await expectReadable(store, jobs: before.counts["jobs"] ?? 0)
        try await store.close()
    }

    /// Every row can be read as a value, and no secret is lost.
    private func expectReadable(_ store: Store, jobs count: Int) async throws {
        let jobs = try await store.jobs(JobQuery(limit: 1000)).jobs
        #expect(jobs.count == count)
        #expect(Set(jobs.map(\.state.name)) == Set(JobState.Name.allCases))
        #expect(jobs.allSatisfy { $0.spec.lost.isEmpty && $0.spec.url.hasPrefix("https://h") })
        let tokens = jobs.compactMap { job in if case .bearer(let token)? = job.spec.credentials { token } else { nil }
        }
        #expect(tokens == ["fixture-token"])
        let finals = jobs.compactMap { $0.state.finish?.receipt.finalURL }
        #expect(finals == ["https://h/a?signature=fixture-query"] || finals == ["https://host/"])
        let films = try await store.session(Name(trusted: "films")).session.configuration
        #expect(films.headers.map(\.value) == ["fixture-session"] && films.lost.isEmpty)
        let webhook = try await store.webhook(Name(trusted: "hook"), of: .default)
        #expect(webhook.url.hasSuffix("?key=fixture-hook") && webhook.lost.isEmpty && webhook.secret != nil)
        #expect(try await store.webhook(Name(trusted: "gone"), of: Name(trusted: "films")).state.name == .disabled)
        #expect(try await store.events(EventQuery(limit: 1000)).events.count >= 6)
        #expect(try await store.statistics().pendingDeliveries >= 1)
        #expect(try await store.parts().isEmpty == false)
    }

    /// The service continues with the data: it finishes batches, admits jobs and assigns larger identifiers.
    @Test(arguments: SchemaFixture.all.map(\.version)) func continuesWithTheData(_ version: Int) async throws {
        let folder = try SchemaFixture(version: version).open()
        let store = try Store(at: folder.path, time: SchemaFixture.time)
        let (last, newest) = (try await store.lastEvent(), try await store.jobs(JobQuery(limit: 1)).jobs[0].id)
        _ = try await store.recoverInterrupted()
        let job = try await store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://h/new"))])[0]
        #expect(job.id.text > newest.text)
        #expect(try await store.lastEvent() > last)
        _ = try await store.admitJobs(AdmissionLimits(jobs: 100, connectionsPerHost: 100)) { _ in }
        #expect(try await store.job(job.id).state.name == .running)
        #expect(try await store.compareCounts().drifts.isEmpty)
        try await store.close()
    }

    /// Before secrets were sealed, a copy would keep them in plain text.
    @Test(arguments: SchemaFixture.all.map(\.version))
    func keepsACopyOfTheDatabaseBeforeTheUpgrade(_ version: Int) async throws {
        let folder = try SchemaFixture(version: version).open()
        let before = try await DatabaseQueue(path: folder.path("fetchd.sqlite")).read { try StoredRows(readFrom: $0) }
        try await Store(at: folder.path, time: SchemaFixture.time).close()
        let copies = folder.files.filter { $0.contains(".schema-") }
        guard version >= 13, version < Schema.latest else { return #expect(copies.isEmpty) }
        #expect(copies == ["fetchd.sqlite.schema-\(version)"])
        let copy = try DatabaseQueue(path: folder.path(copies[0]))
        let kept = try await copy.read { try StoredRows(readFrom: $0) }
        #expect(before.differences(to: kept).isEmpty && kept.differences(to: before).isEmpty)
        try copy.close()
        // The version before restores it like a backup.
        #expect(try Restoration.run(folder.path(copies[0]), into: folder.path).jobs == before.counts["jobs"])
    }

    @Test func aSecondStartAfterAnInterruptedUpgradeKeepsTheFirstCopy() async throws {
        let versions = SchemaFixture.all.map(\.version).filter { $0 >= 13 && $0 < Schema.latest }
        let folder = try SchemaFixture(version: try #require(versions.first)).open()
        let connections = try Connections(path: folder.path("fetchd.sqlite"), readers: 1)
        let log = LogRecord()
        try UpgradeCopy(DataFolder(at: folder.path), log.logger).make(connections, largest: .max)
        let first = folder.files.filter { $0.contains(".schema-") }
        #expect(first.count == 1 && log.text.contains("keeps a copy"))
        // As if the first migrations of the upgrade had been committed before a kill.
        let renamed = folder.path("fetchd.sqlite.schema-9")
        try FileManager.default.moveItem(atPath: folder.path(first[0]), toPath: renamed)
        try UpgradeCopy(DataFolder(at: folder.path), log.logger).make(connections, largest: .max)
        #expect(folder.files.filter { $0.contains(".schema-") } == ["fetchd.sqlite.schema-9"])
        try connections.close()
    }

    @Test func upgradesALargeDatabaseWithoutACopyAndSaysSo() async throws {
        let versions = SchemaFixture.all.map(\.version).filter { $0 >= 13 && $0 < Schema.latest }
        let folder = try SchemaFixture(version: try #require(versions.first)).open()
        let log = LogRecord()
        var options = Store.Options()
        (options.largestUpgradeCopy, options.log) = (1000, log.logger)
        try await Store(at: folder.path, options: options, time: SchemaFixture.time).close()
        #expect(!folder.files.contains { $0.contains(".schema-") })
        #expect(log.text.contains("without a copy: the database is large"))
    }
}
