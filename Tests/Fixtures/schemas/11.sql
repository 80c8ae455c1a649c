CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    configuration TEXT NOT NULL,
    acknowledged_through INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
, waits_for_help INTEGER NOT NULL DEFAULT 0 CHECK (waits_for_help IN (0, 1)), is_finishing INTEGER NOT NULL DEFAULT 0 CHECK (is_finishing IN (0, 1))) STRICT;
CREATE TABLE batches (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    state TEXT NOT NULL CHECK (state IN ('open', 'due', 'finished', 'acknowledged')),
    outstanding INTEGER NOT NULL CHECK (outstanding >= 0),
    succeeded INTEGER NOT NULL CHECK (succeeded >= 0),
    failed INTEGER NOT NULL CHECK (failed >= 0),
    cancelled INTEGER NOT NULL CHECK (cancelled >= 0),
    due_at INTEGER,
    first_event INTEGER,
    finish_event INTEGER, finished_at INTEGER,
    PRIMARY KEY (session, number),
    CHECK ((state = 'due') = (due_at IS NOT NULL)),
    CHECK ((state IN ('finished', 'acknowledged')) = (finish_event IS NOT NULL)),
    CHECK (state = 'open' OR outstanding = 0)
) STRICT;
CREATE TABLE job_tags (
    tag TEXT NOT NULL,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, session TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tag, job)
) STRICT, WITHOUT ROWID;
CREATE TABLE parts (
    id TEXT NOT NULL PRIMARY KEY,
    job TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    last_modified_is_strong INTEGER NOT NULL CHECK (last_modified_is_strong IN (0, 1)),
    is_encoded INTEGER NOT NULL CHECK (is_encoded IN (0, 1)),
    size INTEGER CHECK (size >= 0),
    bytes_durable INTEGER NOT NULL CHECK (bytes_durable >= 0), lifetime INTEGER NOT NULL DEFAULT 604800000 CHECK (lifetime >= 0), expires_at INTEGER, lifetime_left INTEGER, content_type TEXT, content_disposition TEXT, ranges TEXT CHECK (ranges LIKE '[[%]]'), digests TEXT,
    CHECK (size IS NULL OR bytes_durable <= size)
) STRICT;
CREATE TABLE events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    time INTEGER NOT NULL,
    session TEXT NOT NULL,
    job TEXT,
    data TEXT NOT NULL
) STRICT;
CREATE TABLE webhooks (
    key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    secret TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('enabled', 'disabled')),
    disabled_reason TEXT,
    created_at INTEGER NOT NULL, failing_since INTEGER, former_secrets TEXT NOT NULL DEFAULT '[]', headers TEXT, tls TEXT,
    UNIQUE (session, name),
    CHECK ((state = 'disabled') = (disabled_reason IS NOT NULL))
) STRICT;
CREATE TABLE deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook INTEGER NOT NULL,
    name TEXT NOT NULL,
    session TEXT NOT NULL,
    event INTEGER NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'acknowledged', 'exhausted', 'cancelled')),
    next_attempt_at INTEGER, tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0), not_before INTEGER NOT NULL DEFAULT 0, scheduled_at INTEGER, requests INTEGER NOT NULL DEFAULT 1 CHECK (requests >= 1), is_accepted INTEGER NOT NULL DEFAULT 0 CHECK (is_accepted IN (0, 1)),
    UNIQUE (webhook, event),
    CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))
) STRICT;
CREATE TABLE delivery_attempts (
    delivery TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    at INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    latency_seconds REAL NOT NULL,
    response TEXT, webhook INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE "jobs" (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id),
    batch INTEGER NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled')),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    spec TEXT NOT NULL,
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 2),
    host TEXT NOT NULL,
    reason TEXT CHECK (reason IN ('retry', 'network', 'space', 'storage', 'credentials', 'url')),
    retry_at INTEGER,
    failure TEXT,
    promotion TEXT,
    finish TEXT,
    file_size INTEGER CHECK (file_size >= 0),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    failures_in_a_row INTEGER NOT NULL DEFAULT 0 CHECK (failures_in_a_row >= 0),
    resume_decision TEXT CHECK (resume_decision IN ('fresh', 'resumed', 'restarted')),
    resume_offset INTEGER,
    resume_why TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER, mirror INTEGER NOT NULL DEFAULT 0 CHECK (mirror >= 0), held_until INTEGER, fails_at INTEGER, resource_until INTEGER, resource_left INTEGER, part_lost INTEGER NOT NULL DEFAULT 0 CHECK (part_lost IN (0, 1)), disproved INTEGER NOT NULL DEFAULT 0 CHECK (disproved IN (0, 1)), sync_failed INTEGER NOT NULL DEFAULT 0 CHECK (sync_failed IN (0, 1)), deadline INTEGER,
    FOREIGN KEY (session, batch) REFERENCES batches (session, number),
    CHECK ((state = 'waiting') = (reason IS NOT NULL)),
    CHECK ((retry_at IS NOT NULL) = (reason IS NOT NULL AND reason IN ('retry', 'network', 'space', 'storage'))),
    CHECK ((state IN ('waiting', 'failed')) = (failure IS NOT NULL)),
    CHECK (promotion IS NULL OR state = 'running'),
    CHECK ((state = 'succeeded') = (finish IS NOT NULL)),
    CHECK ((state = 'succeeded') = (file_size IS NOT NULL)),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
) STRICT;
CREATE TABLE removed_events (
    session TEXT NOT NULL PRIMARY KEY,
    last_event INTEGER NOT NULL
) STRICT;
CREATE TABLE idempotency_keys (
    caller TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    location TEXT,
    answer BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (caller, route, key)
) STRICT;
CREATE TABLE clock (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    time INTEGER NOT NULL,
    uptime INTEGER NOT NULL CHECK (uptime >= 0),
    boot TEXT,
    last_event INTEGER NOT NULL
) STRICT;
CREATE TABLE clock_jumps (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    last_event INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by INTEGER NOT NULL CHECK (by <> 0)
) STRICT;
CREATE TABLE history (
    identity TEXT NOT NULL,
    commits INTEGER NOT NULL CHECK (commits >= 0),
    began_at INTEGER,
    last_id TEXT
) STRICT;
CREATE TABLE given_batches (
    session TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT;
CREATE TABLE session_counts (
    session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    queued INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    paused INTEGER NOT NULL DEFAULT 0,
    succeeded INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    batch INTEGER NOT NULL DEFAULT 0,
    unsized INTEGER NOT NULL DEFAULT 0,
    sized INTEGER NOT NULL DEFAULT 0,
    received INTEGER NOT NULL DEFAULT 0,
    expected INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE service_counts (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    parts INTEGER NOT NULL,
    part_bytes INTEGER NOT NULL,
    deliveries_pending INTEGER NOT NULL,
    deliveries_acknowledged INTEGER NOT NULL,
    deliveries_exhausted INTEGER NOT NULL,
    deliveries_cancelled INTEGER NOT NULL,
    finishes_unacknowledged INTEGER NOT NULL
) STRICT;
INSERT INTO grdb_migrations ("identifier") VALUES ('1: sessions, jobs, journal, webhooks');
INSERT INTO grdb_migrations ("identifier") VALUES ('2: help, acknowledgement, secrets, idempotency');
INSERT INTO grdb_migrations ("identifier") VALUES ('3: moments, mirrors, expiring parts');
INSERT INTO grdb_migrations ("identifier") VALUES ('4: parts with gaps');
INSERT INTO grdb_migrations ("identifier") VALUES ('5: digests of parts');
INSERT INTO grdb_migrations ("identifier") VALUES ('6: failing storage');
INSERT INTO grdb_migrations ("identifier") VALUES ('7: the clock');
INSERT INTO grdb_migrations ("identifier") VALUES ('8: history');
INSERT INTO grdb_migrations ("identifier") VALUES ('9: redelivery');
INSERT INTO grdb_migrations ("identifier") VALUES ('10: counts');
INSERT INTO grdb_migrations ("identifier") VALUES ('11: endpoints of webhooks');
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing") VALUES ('default', '{}', 2, 1566228000000, 0, 0);
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing") VALUES ('films', '{"headers":[{"name":"Authorization","value":"fixture-session"}],"maxConcurrentJobs":2}', 0, 1566228000000, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at") VALUES ('default', 1, 'acknowledged', 0, 1, 0, 0, NULL, 1, 2, 1566228002000);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at") VALUES ('default', 2, 'finished', 0, 0, 1, 1, NULL, 3, 5, 1566228005000);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at") VALUES ('default', 3, 'open', 5, 0, 0, 0, NULL, 6, NULL, NULL);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at") VALUES ('films', 1, 'due', 0, 0, 0, 1, 1566229100000, NULL, NULL, NULL);
INSERT INTO job_tags ("tag", "job", "session") VALUES ('red', 'job_01DJN00000000000000000000G', 'default');
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_01DJN00000000000000000000A', 'job_01DJN00000000000000000000G', 'https://h/g', '"v1"', NULL, 0, 0, 100, 77, 604800000, 1566832800000, NULL, NULL, NULL, '[[0, 50], [60, 87]]', NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_01DJN00000000000000000000B', 'job_01DJN00000000000000000000E', 'https://h/e', NULL, NULL, 0, 0, NULL, 5, 604800000, 1566832800000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (1, 'job.succeeded', 1566228001000, 'default', 'job_01DJN00000000000000000000A', '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (2, 'session.finished', 1566228002000, 'default', NULL, '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (3, 'job.failed', 1566228003000, 'default', 'job_01DJN00000000000000000000B', '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (4, 'job.cancelled', 1566228004000, 'default', 'job_01DJN00000000000000000000C', '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (5, 'session.finished', 1566228005000, 'default', NULL, '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (6, 'job.created', 1566228006000, 'default', 'job_01DJN00000000000000000000D', '{}');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls") VALUES (7, 'default', 'hook', 'https://c/?key=fixture-hook', 'session.* job.*', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'enabled', NULL, 1566228000000, NULL, '[]', '[{"name":"X-Tenant","value":"fixture-header"}]', NULL);
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls") VALUES (8, 'films', 'gone', 'https://c/gone', 'session.*', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'disabled', 'It answered 410.', 1566228000000, NULL, '[]', NULL, NULL);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN00000000000000000000A', 7, 'hook', 'default', 2, 'session.finished', 'acknowledged', NULL, 1, 0, NULL, 1, 1);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN00000000000000000000B', 7, 'hook', 'default', 3, 'job.failed', 'exhausted', NULL, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN00000000000000000000C', 7, 'hook', 'default', 4, 'job.cancelled', 'cancelled', NULL, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN00000000000000000000D', 7, 'hook', 'default', 5, 'session.finished', 'pending', 1566229050000, 1, 0, NULL, 2, 0);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook") VALUES ('dlv_01DJN00000000000000000000A', 1, 1566228002500, 204, NULL, 0.1, NULL, 7);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook") VALUES ('dlv_01DJN00000000000000000000D', 1, 1566228005500, 500, NULL, 0.2, 'sorry', 7);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000A', 'default', 1, 'succeeded', 3, '{"url":"https://h/a?signature=fixture-query"}', 1, 'h:443', NULL, NULL, NULL, NULL, '{"file":{"path":"a.bin","size":7},"receipt":{"finalURL":"https://h/a?signature=fixture-query","redirects":[],"status":200,"networkProtocol":"h2","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', 7, 1, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, 1566228001000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000B', 'default', 2, 'failed', 3, '{"url":"https://h/b"}', 1, 'h:443', NULL, NULL, '{"code":"connection_lost","message":"gone","attempts":1,"at":0}', NULL, NULL, NULL, 8, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, 1566228003000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000C', 'default', 2, 'cancelled', 2, '{"url":"https://h/c"}', 1, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, 1566228004000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000D', 'default', 3, 'queued', 1, '{"url":"https://h/d","credentials":{"bearer":{"token":"fixture-token"}}}', 2, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, NULL, 0, 1566229500000, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000E', 'default', 3, 'running', 2, '{"url":"https://h/e"}', 1, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228000000, 1566228006000, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000F', 'default', 3, 'waiting', 4, '{"url":"https://h/f"}', 1, 'h:443', 'storage', 1566229050000, '{"code":"connection_lost","message":"gone","attempts":1,"at":0}', NULL, NULL, NULL, 2, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000G', 'default', 3, 'paused', 3, '{"url":"https://h/g","tags":["red"]}', 0, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000H', 'films', 1, 'cancelled', 2, '{"url":"https://h/h"}', 1, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, 1566228004000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline") VALUES ('job_01DJN00000000000000000000J', 'default', 3, 'waiting', 2, '{"url":"https://h/j"}', 1, 'h:443', 'credentials', NULL, '{"code":"connection_lost","message":"gone","attempts":1,"at":0}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO idempotency_keys ("caller", "route", "key", "fingerprint", "location", "answer", "created_at") VALUES ('me', 'POST /v1/jobs', 'k', X'62', '/v1/jobs/1', X'7B2275726C223A2268747470733A2F2F682F3F66697874757265227D', 1566228900000);
INSERT INTO clock ("id", "time", "uptime", "boot", "last_event") VALUES (1, 1566228950000, 900000, 'boot', 6);
INSERT INTO history ("identity", "commits", "began_at", "last_id") VALUES ('3fa27bfcaba1cf3c685b', 42, NULL, NULL);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('default', 1, 1, 2, 1, 1, 1, 1, 3, 4, 1, 82, 100);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('films', 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0);
INSERT INTO service_counts ("id", "parts", "part_bytes", "deliveries_pending", "deliveries_acknowledged", "deliveries_exhausted", "deliveries_cancelled", "finishes_unacknowledged") VALUES (1, 2, 82, 1, 1, 1, 1, 1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('events', 6);
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('webhooks', 8);
CREATE UNIQUE INDEX batches_taking_jobs ON batches (session) WHERE state IN ('open', 'due');
CREATE INDEX batches_due ON batches (due_at) WHERE state = 'due';
CREATE INDEX job_tags_by_job ON job_tags (job);
CREATE INDEX events_by_session ON events (session, id);
CREATE INDEX events_by_job ON events (job, id) WHERE job IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (webhook, event) WHERE state = 'pending';
CREATE INDEX deliveries_by_event ON deliveries (event);
CREATE INDEX sessions_finishing ON sessions (id) WHERE is_finishing = 1;
CREATE INDEX jobs_running ON jobs (session, host) WHERE state = 'running';
CREATE INDEX jobs_waiting ON jobs (retry_at) WHERE retry_at IS NOT NULL;
CREATE INDEX jobs_helpless ON jobs (session, id) WHERE reason IN ('credentials', 'url');
CREATE INDEX jobs_by_session ON jobs (session, id);
CREATE INDEX batches_unacknowledged ON batches (session, finished_at) WHERE state = 'finished';
CREATE INDEX batches_untaken ON batches (session, first_event) WHERE state <> 'acknowledged';
CREATE INDEX batches_by_finish ON batches (finish_event) WHERE finish_event IS NOT NULL;
CREATE INDEX deliveries_due ON deliveries (webhook, next_attempt_at, event)
    WHERE state = 'pending' AND type <> 'session.finished';
CREATE INDEX deliveries_waiting ON deliveries (webhook, next_attempt_at)
    WHERE state = 'pending' AND tries > 0 AND next_attempt_at > not_before;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX jobs_queue_by_age ON jobs (priority, session, id, host) WHERE state = 'queued' AND held_until IS NULL;
CREATE INDEX jobs_queue_by_host ON jobs (priority, session, host, id) WHERE state = 'queued' AND held_until IS NULL;
CREATE INDEX jobs_held ON jobs (held_until) WHERE held_until IS NOT NULL;
CREATE INDEX jobs_pressed ON jobs (fails_at) WHERE fails_at IS NOT NULL;
CREATE INDEX parts_expiring ON parts (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX clock_jumps_by_event ON clock_jumps (last_event);
CREATE INDEX parts_short_lived ON parts (expires_at) WHERE expires_at IS NOT NULL AND lifetime < 3600000;
CREATE INDEX jobs_resting ON jobs (state, id) WHERE state <> 'running';
CREATE INDEX jobs_resting_by_session ON jobs (session, state, id, batch, file_size) WHERE state <> 'running';
CREATE INDEX jobs_running_by_age ON jobs (id, session) WHERE state = 'running';
CREATE INDEX jobs_failed ON jobs (session, batch, id) WHERE state = 'failed';
CREATE INDEX job_tags_by_session ON job_tags (session, tag, job);
CREATE INDEX deliveries_settled ON deliveries (webhook, state, event) WHERE state <> 'pending';
CREATE INDEX delivery_attempts_by_webhook ON delivery_attempts (webhook, at, status, latency_seconds);
