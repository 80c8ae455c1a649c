/// The rows of the fixtures of versions 1 to 13, which were written before fixtures were kept. Each version adds rows for
/// what was new in it.
enum SchemaFixtureRows {
    static let new: [Int: String] = [
        1: """
        INSERT INTO batches (session, number, state, outstanding, succeeded, failed, cancelled, first_event, finish_event, due_at)
            VALUES ('default', 1, 'acknowledged', 0, 1, 0, 0, 1, 2, NULL), ('default', 2, 'finished', 0, 0, 1, 1, 3, 5, NULL),
                ('default', 3, 'open', 4, 0, 0, 0, 6, NULL, NULL);
        UPDATE sessions SET acknowledged_through = 2, created_at = 1566228000000;
        INSERT INTO sessions (id, configuration, created_at) VALUES ('films',
            '{"headers":[{"name":"Authorization","value":"fixture-session"}],"maxConcurrentJobs":2}', 1566228000000);
        INSERT INTO batches (session, number, state, outstanding, succeeded, failed, cancelled, due_at)
            VALUES ('films', 1, 'due', 0, 0, 0, 1, 1566229100000);
        INSERT INTO events (id, type, time, session, job, data) VALUES
            (1, 'job.succeeded', 1566228001000, 'default', 'job_01DJN00000000000000000000A', '{}'),
            (2, 'session.finished', 1566228002000, 'default', NULL, '{}'),
            (3, 'job.failed', 1566228003000, 'default', 'job_01DJN00000000000000000000B', '{}'),
            (4, 'job.cancelled', 1566228004000, 'default', 'job_01DJN00000000000000000000C', '{}'),
            (5, 'session.finished', 1566228005000, 'default', NULL, '{}'),
            (6, 'job.created', 1566228006000, 'default', 'job_01DJN00000000000000000000D', '{}');
        INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, reason, retry_at, failure, promotion,
                finish, file_size, attempts, created_at, started_at, finished_at) VALUES
            ('job_01DJN00000000000000000000A', 'default', 1, 'succeeded', 3, '{"url":"https://h/a?signature=fixture-query"}', 1,
                'h:443', NULL, NULL, NULL, NULL,
                '{"file":{"path":"a.bin","size":7},"receipt":\(receipt)}', 7, 1,
                1566228000000, 1566228000500, 1566228001000),
            ('job_01DJN00000000000000000000B', 'default', 2, 'failed', 3, '{"url":"https://h/b"}', 1, 'h:443', NULL, NULL,
                '\(failure)', NULL, NULL, NULL, 8, 1566228000000, 1566228000500, 1566228003000),
            ('job_01DJN00000000000000000000C', 'default', 2, 'cancelled', 2, '{"url":"https://h/c"}', 1, 'h:443', NULL, NULL, NULL,
                NULL, NULL, NULL, 0, 1566228000000, NULL, 1566228004000),
            ('job_01DJN00000000000000000000D', 'default', 3, 'queued', 1,
                '{"url":"https://h/d","credentials":{"bearer":{"token":"fixture-token"}}}', 2, 'h:443', NULL, NULL, NULL, NULL,
                NULL, NULL, 0, 1566228000000, NULL, NULL),
            ('job_01DJN00000000000000000000E', 'default', 3, 'running', 2, '{"url":"https://h/e"}', 1, 'h:443', NULL, NULL, NULL,
                NULL, NULL, NULL, 1, 1566228000000, 1566228006000, NULL),
            ('job_01DJN00000000000000000000F', 'default', 3, 'waiting', 4, '{"url":"https://h/f"}', 1, 'h:443', 'retry',
                1566229050000, '\(failure)', NULL, NULL, NULL, 2, 1566228000000, 1566228000500, NULL),
            ('job_01DJN00000000000000000000G', 'default', 3, 'paused', 3, '{"url":"https://h/g","tags":["red"]}', 0, 'h:443',
                NULL, NULL, NULL, NULL, NULL, NULL, 1, 1566228000000, 1566228000500, NULL),
            ('job_01DJN00000000000000000000H', 'films', 1, 'cancelled', 2, '{"url":"https://h/h"}', 1, 'h:443', NULL, NULL, NULL,
                NULL, NULL, NULL, 0, 1566228000000, NULL, 1566228004000);
        INSERT INTO job_tags VALUES ('red', 'job_01DJN00000000000000000000G');
        INSERT INTO parts (id, job, url, etag, last_modified_is_strong, is_encoded, size, bytes_durable) VALUES
            ('part_01DJN00000000000000000000A', 'job_01DJN00000000000000000000G', 'https://h/g', '"v1"', 0, 0, 100, 77),
            ('part_01DJN00000000000000000000B', 'job_01DJN00000000000000000000E', 'https://h/e', NULL, 0, 0, NULL, 5);
        INSERT INTO webhooks (key, session, name, url, events, secret, state, disabled_reason, created_at) VALUES
            (7, 'default', 'hook', 'https://c/?key=fixture-hook', 'session.* job.*', '\(secret)', 'enabled', NULL, 1566228000000),
            (8, 'films', 'gone', 'https://c/gone', 'session.*', '\(secret)', 'disabled', 'It answered 410.', 1566228000000);
        INSERT INTO deliveries (id, webhook, name, session, event, type, state, next_attempt_at) VALUES
            ('dlv_01DJN00000000000000000000A', 7, 'hook', 'default', 2, 'session.finished', 'acknowledged', NULL),
            ('dlv_01DJN00000000000000000000B', 7, 'hook', 'default', 3, 'job.failed', 'exhausted', NULL),
            ('dlv_01DJN00000000000000000000C', 7, 'hook', 'default', 4, 'job.cancelled', 'cancelled', NULL),
            ('dlv_01DJN00000000000000000000D', 7, 'hook', 'default', 5, 'session.finished', 'pending', 1566229050000);
        INSERT INTO delivery_attempts VALUES
            ('dlv_01DJN00000000000000000000A', 1, 1566228002500, 204, NULL, 0.1, NULL),
            ('dlv_01DJN00000000000000000000D', 1, 1566228005500, 500, NULL, 0.2, 'sorry');
        """,
        2: """
        INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, reason, failure, created_at) VALUES
            ('job_01DJN00000000000000000000J', 'default', 3, 'waiting', 2, '{"url":"https://h/j"}', 1, 'h:443', 'credentials',
                '\(failure)', 1566228000000);
        UPDATE batches SET outstanding = 5 WHERE session = 'default' AND number = 3;
        INSERT INTO idempotency_keys (caller, route, key, fingerprint, location, answer, created_at) VALUES
            ('me', 'POST /v1/jobs', 'k', x'62', '/v1/jobs/1', CAST('{"url":"https://h/?fixture"}' AS BLOB), 1566228900000);
        """,
        3: "UPDATE jobs SET held_until = 1566229500000 WHERE id = 'job_01DJN00000000000000000000D';",
        4: "UPDATE parts SET ranges = '[[0, 50], [60, 87]]' WHERE id = 'part_01DJN00000000000000000000A';",
        6: "UPDATE jobs SET reason = 'storage' WHERE id = 'job_01DJN00000000000000000000F';",
        7: "INSERT INTO clock VALUES (1, 1566228950000, 900000, 'boot', 6);",
        8: "UPDATE history SET commits = 42;",
        9: "UPDATE deliveries SET requests = 2 WHERE id = 'dlv_01DJN00000000000000000000D';",
        11: """
        UPDATE webhooks SET headers = '[{"name":"X-Tenant","value":"fixture-header"}]' WHERE key = 7;
        """,
        12: """
        INSERT INTO tokens (id, digest, name, scope, sessions, created_at) VALUES
            ('tok_01DJN00000000000000000000A', zeroblob(32), 'films', 'jobs', '["films"]', 1566228000000);
        UPDATE jobs SET token = 'tok_01DJN00000000000000000000A' WHERE session = 'films';
        INSERT INTO audit (time, address, action, outcome) VALUES (1566228000000, '127.0.0.1', 'token.create', 'done');
        """,
    ]

    private static let receipt =
        #"{"finalURL":"https://h/a?signature=fixture-query","redirects":[],"status":200,"networkProtocol":"h2","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}"#
    private static let failure = #"{"code":"connection_lost","message":"gone","attempts":1,"at":0}"#
    private static let secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
}
