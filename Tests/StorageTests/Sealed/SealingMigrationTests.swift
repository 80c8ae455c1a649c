import Downloads
import Foundation
import GRDB
import HTTPSemantics
import Logging
import Sealing
import TestKit
import Testing

@testable import Storage

/// The first start of this version seals the secrets of an earlier one, and leaves no plain copy in the files.
@Suite struct SealingMigrationTests {
    private static let time = ManualTime(Date(milliseconds: 10_000))
    private static let count = 1200

    /// A database of version 11 with plain secrets, also in the free space of its file.
    private func databaseOfVersion11() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.path + "/fetchd.sqlite")
        try Schema.migrator.migrate(database, upTo: "11: endpoints of webhooks")
        try database.write { db in
            try db.execute(sql: Self.rows)
            for number in 1...Self.count { try insertJob(number, db) }
            // Their pages become free space.
            for number in 2000...2200 { try insertJob(number, db) }
            try db.execute(sql: "DELETE FROM jobs WHERE id BETWEEN 'job_12000' AND 'job_12200'")
        }
        try database.close()
        return folder
    }

    private func insertJob(_ number: Int, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, created_at)
                VALUES (?, 'films', 1, 'queued', 1, ?, 1, 'h:443', 1)
                """,
            arguments: ["job_\(10_000 + number)", try Stored.text(Self.spec(number))])
    }

    /// Every third job has no secret.
    private static func spec(_ number: Int) -> JobSpec {
        guard number % 3 != 0 else { return JobSpec(url: "https://host/\(number)") }
        var spec = JobSpec(url: "https://host/\(number)?planted-\(number)")
        spec.credentials = number % 2 == 0 ? .bearer(token: "planted-token") : nil
        return spec
    }

    private static let receipt =
        #"{"finalURL":"https://h/?planted-final","redirects":[],"status":200,"networkProtocol":"h2","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}"#
    private static let file = #"{"path":"f","size":3}"#
    private static let failure = #"{"code":"link_expired","message":"gone","attempts":1,"at":0}"#

    private static let rows = """
        INSERT INTO sessions (id, configuration, created_at) VALUES ('films',
            '{"headers":[{"name":"Authorization","value":"planted-session"}],"proxy":{"scheme":"http","host":"p","port":1,"username":"u","password":"planted-proxy"}}', 1);
        INSERT INTO session_counts (session) VALUES ('films');
        INSERT INTO batches (session, number, state, outstanding, succeeded, failed, cancelled, first_event, finish_event)
            VALUES ('films', 1, 'open', 1, 0, 0, 0, 1, NULL);
        INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, reason, failure, promotion, finish,
                file_size, created_at, finished_at)
            VALUES ('job_1', 'films', 1, 'succeeded', 2, '{"url":"https://h/1"}', 1, 'h:443', NULL, NULL, NULL,
                    '{"file":\(file),"receipt":\(receipt)}', 3, 1, 2),
                ('job_2', 'films', 1, 'waiting', 2, '{"url":"https://h/2"}', 1, 'h:443', 'url', '\(failure)', NULL, NULL,
                    NULL, 1, NULL),
                ('job_3', 'films', 1, 'running', 2, '{"url":"https://h/3"}', 1, 'h:443', NULL, NULL,
                    '{"part":{"text":"part_9"},"inode":1,"conflict":"rename","file":\(file),"receipt":\(receipt)}', NULL,
                    NULL, 1, NULL);
        INSERT INTO parts (id, job, url, last_modified_is_strong, is_encoded, bytes_durable)
            VALUES ('part_1', 'job_2', 'https://h/5?planted-part', 0, 0, 77);
        INSERT INTO webhooks (key, session, name, url, events, headers, secret, former_secrets, state, created_at)
            VALUES (7, 'films', 'hook', 'https://planted-user@c/?planted-hook', 'session.*',
                '[{"name":"X-Tenant","value":"planted-header"}]', 'whsec_cGxhbnRlZC1zZWNyZXQtb2YtdGhlLXdlYmhvb2s=',
                '[{"secret":"whsec_Zm9ybWVyLXNlY3JldC1vZi10aGUtd2ViaG9vaw==","until":90000}]', 'enabled', 1);
        INSERT INTO idempotency_keys (caller, route, key, fingerprint, location, answer, created_at)
            VALUES ('me', 'POST /', 'k', x'62', 'jobs/1', CAST('{"url":"https://h/?planted-answer"}' AS BLOB), 9000);
        """

    private static let plain = ["planted", "cGxhbnRlZC1zZWNyZXQtb2Yt", "Zm9ybWVyLXNlY3JldC1vZi"]

    private func expectHidden(in folder: TemporaryFolder, _ location: SourceLocation = #_sourceLocation) {
        for file in folder.files {
            for text in Self.plain {
                let bytes = Data(folder.bytes(of: file) ?? [])
                #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) in \(file)", sourceLocation: location)
            }
        }
    }

    private func expectComplete(_ store: Store, _ location: SourceLocation = #_sourceLocation) async throws {
        for number in 1...Self.count {
            let spec = try await store.job(JobID("job_\(10_000 + number)")).spec
            #expect(spec == Self.spec(number), sourceLocation: location)
        }
        let finish = try await store.job(JobID("job_1")).state.finish
        #expect(finish?.receipt.finalURL == "https://h/?planted-final", sourceLocation: location)
        let promotion = try await store.job(JobID("job_3")).state.promotion
        #expect(promotion?.receipt.finalURL == "https://h/?planted-final", sourceLocation: location)
        #expect(try await store.job(JobID("job_2")).part?.url == "https://h/5?planted-part", sourceLocation: location)
        let configuration = try await store.session(Name(trusted: "films")).session.configuration
        #expect(configuration.headers.map(\.value) == ["planted-session"], sourceLocation: location)
        #expect(configuration.proxy?.password == "planted-proxy", sourceLocation: location)
        let webhook = try await store.webhook(Name(trusted: "hook"), of: Name(trusted: "films"))
        #expect(webhook.url == "https://planted-user@c/?planted-hook", sourceLocation: location)
        #expect(webhook.headers.map(\.value) == ["planted-header"], sourceLocation: location)
        #expect(webhook.secret?.key == Data("planted-secret-of-the-webhook".utf8), sourceLocation: location)
        #expect(
            webhook.formerSecrets.map(\.secret.key) == [Data("former-secret-of-the-webhook".utf8)],
            sourceLocation: location)
        let claim = IdempotencyClaim(caller: "me", route: "POST /", key: "k", fingerprint: Data("b".utf8))
        let answer = try await store.rememberedAnswer(to: claim)
        #expect(answer?.body == Array(#"{"url":"https://h/?planted-answer"}"#.utf8), sourceLocation: location)
    }

    @Test func sealsEverythingAndLeavesNoPlainCopy() async throws {
        let folder = try databaseOfVersion11()
        let store = try Store(at: folder.path, time: Self.time)
        expectHidden(in: folder)
        try await expectComplete(store)
        let violations = try await store.pool.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count }
        #expect(violations == 0)
        try await store.close()
        expectHidden(in: folder)
        try await expectComplete(try Store(at: folder.path, time: Self.time))
    }

    /// The folder is copied at each moment, as SIGKILL would leave it. The next start of the copy does the rest.
    @Test(arguments: ["before", "sealing", "sealed", "vacuumed"])
    func goesOnAfterACrash(at moment: String) async throws {
        let folder = try databaseOfVersion11()
        let connections = try Connections(path: folder.path("fetchd.sqlite"), readers: 1)
        try Schema.migrator.migrate(connections.pool)
        let data = try DataFolder(at: folder.path)
        let unlocking = try Unlocking(data, .dataFolder)
        let sealer = Sealer(keys: try unlocking.keyring(connections, Logger(label: "test")))
        var copies: [String: CrashedFolder] = ["before": try CrashedFolder(copying: folder)]
        try connections.change { db in
            try SecretRows(db).seal(with: sealer)
            copies["sealing"] = try CrashedFolder(copying: folder)
            try SealingStep.vacuum.write(db)
        }
        copies["sealed"] = try CrashedFolder(copying: folder)
        try connections.vacuum()
        copies["vacuumed"] = try CrashedFolder(copying: folder)
        try connections.close()

        let copy = try #require(copies[moment]).folder
        let store = try Store(at: copy.path, time: Self.time)
        expectHidden(in: copy)
        try await expectComplete(store)
        #expect(try await store.read { try SealingStep.read($0) } == .done)
    }
}
