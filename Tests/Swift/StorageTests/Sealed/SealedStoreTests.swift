import Downloads
import Foundation
import GRDB
import Sealing
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Secrets are sealed in the database, and read again by a store with the same key.
@Suite(.onSQLite) struct SealedStoreTests {
    @Test func noFileOfAStoreContainsASecret() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        // With its log, as SIGKILL would leave it.
        PlantedSecrets.expectHidden(in: fixture.folder)
        try await PlantedSecrets.expectPresent(jobs, in: fixture.store)
        try await fixture.store.close()
        PlantedSecrets.expectHidden(in: fixture.folder)
        let store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }

    @Test func theKeyIsInAFileForItsOwnerAlone() throws {
        let fixture = try StoreFixture()
        let path = fixture.folder.path("fetchd.key")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try KeyFile(path: path).read()?.map(\.id) == [fixture.store.sealer.keys.current.id])
    }

    /// A row without a secret looks as it always did, so it costs no encryption.
    @Test func textWithoutASecretIsStoredAsItIs() async throws {
        let fixture = try StoreFixture()
        let spec = JobSpec(url: "https://host/film@2.mkv")
        let job = try #require(
            try await fixture.store.createJobs([NewJob(session: .default, spec: spec)]).first)
        _ = try await fixture.admit()
        let report = AttemptReport(part: StoreFixture.part())
        _ = try await fixture.store.apply(.attemptDeferred(Self.wait), to: job.id, report)
        let (text, url) = try await fixture.store.read { db in
            (
                try db.value("SELECT spec FROM jobs", as: String.self),
                try db.value("SELECT url FROM parts", as: String.self)
            )
        }
        #expect(text == #"{"url":"https://host/film@2.mkv"}"#)
        #expect(url == "https://host/0")
        _ = try await fixture.store.apply(.resumeRequested, to: job.id)
        _ = try await fixture.admit()
        try await fixture.succeed(job.id)
        let finish = try await fixture.store.read { db in try db.value("SELECT finish FROM jobs", as: String.self) }
        #expect(finish?.hasSuffix("}") == true)
    }

    private static let wait = Wait(.url, cause: Failure(.linkExpired, "gone", attempts: 1, at: .distantPast))

    @Test(arguments: ["jobs.spec", "parts.url", "sessions.configuration", "webhooks.secret"])
    func refusesAValueThatWasMovedOrChanged(_ column: String) async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        let sealed = try await fixture.store.writer.write { transaction in
            let (table, name) = (column.prefix { $0 != "." }, column.drop { $0 != "." }.dropFirst())
            let sealed = try transaction.rows("SELECT \(name) FROM \(table) WHERE \(name) LIKE '%sealed:%'").count
            // The value of another job, and a changed value.
            try transaction.run(
                table == "jobs"
                    ? "UPDATE jobs SET spec = (SELECT spec FROM jobs WHERE id = '\(jobs[0])') WHERE id = '\(jobs[1])'"
                    : "UPDATE \(table) SET \(name) = \(name) || 'A' || char(10)")
            return sealed
        }
        #expect(sealed > 0)
        try await fixture.store.close()
        let store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        let error = await #expect(throws: StoreError.self) {
            switch column {
            case "sessions.configuration": _ = try await store.sessions()
            case "webhooks.secret": _ = try await store.webhooks(of: PlantedSecrets.session)
            default: _ = try await store.jobs(JobQuery())
            }
        }
        guard case .sealBroken(let place)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(place.hasPrefix(column))
    }

    @Test func refusesAnotherKeyAndChangesNothing() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        try await fixture.store.close()
        let (folder, other) = (fixture.folder, try TemporaryFolder())
        let file = KeyFile(path: other.path("key"))
        try file.write([.random()])
        let before = folder.bytes(of: "fetchd.sqlite")
        var options = Store.Options()
        options.key = .file(file.path)
        #expect(throws: StoreError.keyWrong(source: "the key file \(file.path)", path: folder.path("fetchd.sqlite"))) {
            try Store(at: folder.path, options: options, time: fixture.time)
        }
        let own = try #require(try KeyFile(path: folder.path("fetchd.key")).read())
        try KeyFile(path: folder.path("fetchd.key")).write([.random()])
        #expect(throws: StoreError.self) { try Store(at: folder.path, time: fixture.time) }
        #expect(folder.bytes(of: "fetchd.sqlite") == before)
        // The right key is accepted from any source.
        try file.write(own)
        let store = try Store(at: folder.path, options: options, time: fixture.time)
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }

    @Test func refusesAKeyFileThatIsNoKey() throws {
        let folder = try TemporaryFolder()
        try folder.write("not a key", to: "fetchd.key")
        #expect(throws: StoreError.self) { try Store(at: folder.path) }
        #expect(folder.files == ["fetchd.key", "lock"])
    }

    @Test func usesAGivenKeyForANewStore() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let (file, key) = (KeyFile(path: other.path("key")), SealingKey.random())
        try file.write([key])
        var options = Store.Options()
        options.key = .file(file.path)
        let store = try Store(at: folder.path, options: options)
        #expect(store.sealer.keys.current.id == key.id)
        #expect(!folder.files.contains("fetchd.key"))
    }
}
