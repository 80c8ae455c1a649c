import Downloads
import Formats
import Foundation
import GRDB
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Tests that data of earlier versions is complete after a migration.
@Suite struct MigrationTests {
    /// A database of version 1 with a job in every state, written with SQL.
    private func databaseOfVersion1() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.path + "/fetchd.sqlite")
        try Schema.migrator.migrate(database, upTo: "1: sessions, jobs, journal, webhooks")
        try database.write { try $0.execute(sql: Self.rows) }
        try database.close()
        return folder
    }

    /// Some seconds after the rows were written.
    private static let time = ManualTime(Date(milliseconds: 10_000))

    private static let failure = #"{"code":"connection_lost","message":"gone","attempts":1,"at":0}"#

    private static let rows = """
        INSERT INTO batches (session, number, state, outstanding, succeeded, failed, cancelled, first_event, finish_event)
            VALUES ('default', 1, 'finished', 0, 0, 1, 1, 1, 2), ('default', 2, 'open', 3, 0, 0, 0, 3, NULL);
        INSERT INTO events (id, type, time, session, data)
            VALUES (1, 'job.failed', 1000, 'default', '{}'), (2, 'session.finished', 2000, 'default', '{}');
        INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, reason, retry_at, failure,
                created_at, finished_at)
            VALUES ('job_1', 'default', 1, 'failed', 2, '{"url":"https://h/1"}', 1, 'h:443', NULL, NULL, '\(failure)', 1, 2),
                ('job_2', 'default', 1, 'cancelled', 2, '{"url":"https://h/2"}', 1, 'h:443', NULL, NULL, NULL, 1, 2),
                ('job_3', 'default', 2, 'queued', 1, '{"url":"https://h/3"}', 1, 'h:443', NULL, NULL, NULL, 1, NULL),
                ('job_4', 'default', 2, 'waiting', 3, '{"url":"https://h/4"}', 1, 'h:443', 'retry', 5000, '\(failure)', 1, NULL),
                ('job_5', 'default', 2, 'paused', 3, '{"url":"https://h/5"}', 1, 'h:443', NULL, NULL, NULL, 1, NULL);
        INSERT INTO job_tags VALUES ('red', 'job_5');
        INSERT INTO parts (id, job, url, last_modified_is_strong, is_encoded, bytes_durable)
            VALUES ('part_1', 'job_5', 'https://h/5', 0, 0, 77);
        INSERT INTO webhooks (key, session, name, url, events, secret, state, created_at)
            VALUES (7, 'default', 'hook', 'https://c/', 'session.*',
                'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'enabled', 1);
        INSERT INTO deliveries (id, webhook, name, session, event, type, state, next_attempt_at)
            VALUES ('dlv_1', 7, 'hook', 'default', 2, 'session.finished', 'pending', 9000);
        INSERT INTO delivery_attempts VALUES ('dlv_1', 1, 3000, 500, NULL, 0.1, NULL), ('dlv_1', 2, 4000, 500, NULL, 0.1, NULL);
        """

    @Test func migratesEveryRowOfVersion1() async throws {
        let folder = try databaseOfVersion1()
        let store = try Store(at: folder.path, time: Self.time)
        let jobs = try await store.jobs(JobQuery()).jobs
        #expect(jobs.map(\.state.name) == [.paused, .waiting, .queued, .cancelled, .failed])
        #expect(jobs[0].bytesDurable == 77)
        #expect(jobs[0].part?.label == FileLabel())
        #expect(jobs.allSatisfy { !$0.isDisproved && $0.spec.checksum == nil })
        #expect(jobs[1].state.wait?.until == Date(milliseconds: 5000))
        #expect(try await store.jobs(JobQuery(tag: "red")).jobs.map(\.id.text) == ["job_5"])
        let status = try await store.session(.default)
        #expect(status.unacknowledgedSince == Date(milliseconds: 2000))
        #expect(status.batch == 2)
        #expect(status.counts == [.queued: 1, .waiting: 1, .paused: 1, .failed: 1, .cancelled: 1])
        #expect(status.bytesReceived == 77)
        #expect(try await store.statistics().pendingDeliveries == 1)
        #expect(try await store.statistics().unacknowledgedFinishes == 1)
        #expect(try await store.compareCounts().drifts.isEmpty)
        let webhook = try await store.webhook(Name(trusted: "hook"), of: .default)
        #expect(webhook.state == .enabled())
        #expect(webhook.formerSecrets.isEmpty && webhook.headers.isEmpty && webhook.tls == TLSRule())
        #expect(webhook.reach == .any)
        let attempts = try await store.pool.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM delivery_attempts WHERE webhook = 7")
        }
        #expect(attempts == 2)
        // The schedule continues where it was.
        #expect(try await store.dueDeliveries(to: 7, limit: 1).map(\.tries) == [2])
    }

    @Test func migratedTablesKeepTheirForeignKeys() async throws {
        let folder = try databaseOfVersion1()
        let store = try Store(at: folder.path, time: Self.time)
        let violations = try await store.pool.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count }
        #expect(violations == 0)
        // The foreign key still deletes a part with its job.
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: JobID("job_5"))
        _ = try await store.deleteJob(JobID("job_5"))
        #expect(try await store.parts().isEmpty)
    }
}
