CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    configuration TEXT NOT NULL,
    acknowledged_through INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;
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
    finish_event INTEGER,
    PRIMARY KEY (session, number),
    CHECK ((state = 'due') = (due_at IS NOT NULL)),
    CHECK ((state IN ('finished', 'acknowledged')) = (finish_event IS NOT NULL)),
    CHECK (state = 'open' OR outstanding = 0)
) STRICT;
CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id),
    batch INTEGER NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled')),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    spec TEXT NOT NULL,
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 2),
    host TEXT NOT NULL,
    reason TEXT CHECK (reason IN ('retry', 'space')),
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
    finished_at INTEGER,
    FOREIGN KEY (session, batch) REFERENCES batches (session, number),
    CHECK ((state = 'waiting') = (reason IS NOT NULL)),
    CHECK ((state = 'waiting') = (retry_at IS NOT NULL)),
    CHECK ((state IN ('waiting', 'failed')) = (failure IS NOT NULL)),
    CHECK (promotion IS NULL OR state = 'running'),
    CHECK ((state = 'succeeded') = (finish IS NOT NULL)),
    CHECK ((state = 'succeeded') = (file_size IS NOT NULL)),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
) STRICT;
CREATE TABLE job_tags (
    tag TEXT NOT NULL,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
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
    bytes_durable INTEGER NOT NULL CHECK (bytes_durable >= 0),
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
    created_at INTEGER NOT NULL,
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
    next_attempt_at INTEGER,
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
    response TEXT,
    PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;
INSERT INTO grdb_migrations ("identifier") VALUES ('1: sessions, jobs, journal, webhooks');
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at") VALUES ('default', '{}', 2, 1566228000000);
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at") VALUES ('films', '{"headers":[{"name":"Authorization","value":"fixture-session"}],"maxConcurrentJobs":2}', 0, 1566228000000);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event") VALUES ('default', 1, 'acknowledged', 0, 1, 0, 0, NULL, 1, 2);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event") VALUES ('default', 2, 'finished', 0, 0, 1, 1, NULL, 3, 5);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event") VALUES ('default', 3, 'open', 4, 0, 0, 0, NULL, 6, NULL);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event") VALUES ('films', 1, 'due', 0, 0, 0, 1, 1566229100000, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000A', 'default', 1, 'succeeded', 3, '{"url":"https://h/a?signature=fixture-query"}', 1, 'h:443', NULL, NULL, NULL, NULL, '{"file":{"path":"a.bin","size":7},"receipt":{"finalURL":"https://h/a?signature=fixture-query","redirects":[],"status":200,"networkProtocol":"h2","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', 7, 1, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, 1566228001000);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000B', 'default', 2, 'failed', 3, '{"url":"https://h/b"}', 1, 'h:443', NULL, NULL, '{"code":"connection_lost","message":"gone","attempts":1,"at":0}', NULL, NULL, NULL, 8, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, 1566228003000);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000C', 'default', 2, 'cancelled', 2, '{"url":"https://h/c"}', 1, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, 1566228004000);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000D', 'default', 3, 'queued', 1, '{"url":"https://h/d","credentials":{"bearer":{"token":"fixture-token"}}}', 2, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000E', 'default', 3, 'running', 2, '{"url":"https://h/e"}', 1, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228000000, 1566228006000, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000F', 'default', 3, 'waiting', 4, '{"url":"https://h/f"}', 1, 'h:443', 'retry', 1566229050000, '{"code":"connection_lost","message":"gone","attempts":1,"at":0}', NULL, NULL, NULL, 2, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000G', 'default', 3, 'paused', 3, '{"url":"https://h/g","tags":["red"]}', 0, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228000000, 1566228000500, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at") VALUES ('job_01DJN00000000000000000000H', 'films', 1, 'cancelled', 2, '{"url":"https://h/h"}', 1, 'h:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228000000, NULL, 1566228004000);
INSERT INTO job_tags ("tag", "job") VALUES ('red', 'job_01DJN00000000000000000000G');
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable") VALUES ('part_01DJN00000000000000000000A', 'job_01DJN00000000000000000000G', 'https://h/g', '"v1"', NULL, 0, 0, 100, 77);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable") VALUES ('part_01DJN00000000000000000000B', 'job_01DJN00000000000000000000E', 'https://h/e', NULL, NULL, 0, 0, NULL, 5);
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (1, 'job.succeeded', 1566228001000, 'default', 'job_01DJN00000000000000000000A', '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (2, 'session.finished', 1566228002000, 'default', NULL, '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (3, 'job.failed', 1566228003000, 'default', 'job_01DJN00000000000000000000B', '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (4, 'job.cancelled', 1566228004000, 'default', 'job_01DJN00000000000000000000C', '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (5, 'session.finished', 1566228005000, 'default', NULL, '{}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (6, 'job.created', 1566228006000, 'default', 'job_01DJN00000000000000000000D', '{}');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at") VALUES (7, 'default', 'hook', 'https://c/?key=fixture-hook', 'session.* job.*', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'enabled', NULL, 1566228000000);
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at") VALUES (8, 'films', 'gone', 'https://c/gone', 'session.*', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'disabled', 'It answered 410.', 1566228000000);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at") VALUES ('dlv_01DJN00000000000000000000A', 7, 'hook', 'default', 2, 'session.finished', 'acknowledged', NULL);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at") VALUES ('dlv_01DJN00000000000000000000B', 7, 'hook', 'default', 3, 'job.failed', 'exhausted', NULL);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at") VALUES ('dlv_01DJN00000000000000000000C', 7, 'hook', 'default', 4, 'job.cancelled', 'cancelled', NULL);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at") VALUES ('dlv_01DJN00000000000000000000D', 7, 'hook', 'default', 5, 'session.finished', 'pending', 1566229050000);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response") VALUES ('dlv_01DJN00000000000000000000A', 1, 1566228002500, 204, NULL, 0.1, NULL);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response") VALUES ('dlv_01DJN00000000000000000000D', 1, 1566228005500, 500, NULL, 0.2, 'sorry');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('events', 6);
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('webhooks', 8);
CREATE UNIQUE INDEX batches_taking_jobs ON batches (session) WHERE state IN ('open', 'due');
CREATE INDEX batches_due ON batches (due_at) WHERE state = 'due';
CREATE INDEX batches_unacknowledged ON batches (session, number) WHERE state = 'finished';
CREATE INDEX jobs_queue ON jobs (priority, id, session, host) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (session, host) WHERE state = 'running';
CREATE INDEX jobs_waiting ON jobs (retry_at) WHERE state = 'waiting';
CREATE INDEX jobs_in_trouble ON jobs (state, id) WHERE state IN ('paused', 'failed', 'cancelled');
CREATE INDEX jobs_by_session ON jobs (session, id);
CREATE INDEX jobs_by_batch ON jobs (session, batch, state, file_size);
CREATE INDEX job_tags_by_job ON job_tags (job);
CREATE INDEX events_by_session ON events (session, id);
CREATE INDEX events_by_job ON events (job, id) WHERE job IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (webhook, event) WHERE state = 'pending';
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX deliveries_by_event ON deliveries (event);
