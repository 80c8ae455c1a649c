CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    configuration TEXT NOT NULL,
    acknowledged_through INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    waits_for_help INTEGER NOT NULL DEFAULT 0 CHECK (waits_for_help IN (0, 1)),
    is_finishing INTEGER NOT NULL DEFAULT 0 CHECK (is_finishing IN (0, 1))
, revision INTEGER NOT NULL DEFAULT 0, has_consumer INTEGER NOT NULL DEFAULT 0 CHECK (has_consumer IN (0, 1)), expects_acknowledgement INTEGER NOT NULL DEFAULT 0 CHECK (expects_acknowledgement IN (0, 1))) STRICT;
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
    finished_at INTEGER, is_awaited INTEGER NOT NULL DEFAULT 1 CHECK (is_awaited IN (0, 1)), is_reported INTEGER NOT NULL DEFAULT 0 CHECK (is_reported IN (0, 1)), imports INTEGER NOT NULL DEFAULT 0 CHECK (imports >= 0),
    PRIMARY KEY (session, number),
    CHECK ((state = 'due') = (due_at IS NOT NULL)),
    CHECK ((state IN ('finished', 'acknowledged')) = (finish_event IS NOT NULL)),
    CHECK (state = 'open' OR outstanding = 0)
) STRICT;
CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id),
    batch INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled')),
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
    finished_at INTEGER,
    mirror INTEGER NOT NULL DEFAULT 0 CHECK (mirror >= 0),
    held_until INTEGER,
    fails_at INTEGER,
    resource_until INTEGER,
    resource_left INTEGER,
    part_lost INTEGER NOT NULL DEFAULT 0 CHECK (part_lost IN (0, 1)),
    disproved INTEGER NOT NULL DEFAULT 0 CHECK (disproved IN (0, 1)),
    sync_failed INTEGER NOT NULL DEFAULT 0 CHECK (sync_failed IN (0, 1)),
    deadline INTEGER,
    token TEXT,
    trace TEXT,
    queue_rank TEXT,
    gid TEXT, node INTEGER, admissions INTEGER NOT NULL DEFAULT 0, times_held_off INTEGER NOT NULL DEFAULT 0, stated_digests TEXT, wait_location TEXT,
    FOREIGN KEY (session, batch) REFERENCES batches (session, number),
    CHECK ((state = 'waiting') = (reason IS NOT NULL)),
    CHECK ((retry_at IS NOT NULL) = (reason IS NOT NULL AND reason IN ('retry', 'network', 'space', 'storage'))),
    CHECK ((state IN ('waiting', 'failed')) = (failure IS NOT NULL)),
    CHECK (promotion IS NULL OR state = 'running'),
    CHECK ((state = 'succeeded') = (finish IS NOT NULL)),
    CHECK ((state = 'succeeded') = (file_size IS NOT NULL)),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
) STRICT;
CREATE TABLE job_tags (
    tag TEXT NOT NULL,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    session TEXT NOT NULL DEFAULT '',
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
    lifetime INTEGER NOT NULL DEFAULT 604800000 CHECK (lifetime >= 0),
    expires_at INTEGER,
    lifetime_left INTEGER,
    content_type TEXT,
    content_disposition TEXT,
    ranges TEXT CHECK (ranges LIKE '[[%]]'),
    digests TEXT, etag_is_recent INTEGER NOT NULL DEFAULT 0 CHECK (etag_is_recent IN (0, 1)), joined_by_evidence INTEGER NOT NULL DEFAULT 0 CHECK (joined_by_evidence IN (0, 1)),
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
CREATE TABLE removed_events (
    session TEXT NOT NULL PRIMARY KEY,
    last_event INTEGER NOT NULL
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
    failing_since INTEGER,
    former_secrets TEXT NOT NULL DEFAULT '[]',
    headers TEXT,
    tls TEXT,
    reach TEXT NOT NULL DEFAULT 'any' CHECK (reach IN ('any', 'public')), format TEXT NOT NULL DEFAULT 'standard' CHECK (format IN ('standard', 'cloudevents')), signatures TEXT NOT NULL DEFAULT 'v1',
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
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    not_before INTEGER NOT NULL DEFAULT 0,
    scheduled_at INTEGER,
    requests INTEGER NOT NULL DEFAULT 1 CHECK (requests >= 1),
    is_accepted INTEGER NOT NULL DEFAULT 0 CHECK (is_accepted IN (0, 1)),
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
    webhook INTEGER NOT NULL DEFAULT 0, exchange TEXT,
    PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE given_batches (
    session TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT;
CREATE TABLE service_settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE throughput (
    minute INTEGER NOT NULL PRIMARY KEY,
    bytes INTEGER NOT NULL CHECK (bytes > 0)
) STRICT;
CREATE TABLE history (
    identity TEXT NOT NULL,
    commits INTEGER NOT NULL CHECK (commits >= 0),
    began_at INTEGER,
    last_id TEXT
) STRICT;
CREATE TABLE sealing (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    step TEXT NOT NULL CHECK (step IN ('seal', 'vacuum', 'done')),
    key_check TEXT
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
CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    former_digest BLOB UNIQUE CHECK (length(former_digest) = 32),
    former_until INTEGER,
    name TEXT,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'jobs', 'sessions', 'admin')),
    sessions TEXT,
    quotas TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER, locations TEXT,
    CHECK ((former_digest IS NULL) = (former_until IS NULL)),
    CHECK (scope <> 'admin' OR sessions IS NULL)
) STRICT;
CREATE TABLE token_bytes (
    token TEXT NOT NULL,
    day INTEGER NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (token, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    caller TEXT,
    name TEXT,
    address TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    outcome TEXT NOT NULL,
    reason TEXT,
    count INTEGER NOT NULL DEFAULT 1 CHECK (count >= 1),
    change TEXT
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
CREATE TABLE hosts (
    host TEXT NOT NULL PRIMARY KEY,
    closed_until INTEGER,
    reason TEXT,
    status INTEGER,
    closures_in_a_row INTEGER NOT NULL CHECK (closures_in_a_row >= 0),
    learned_rate REAL,
    learned_at INTEGER,
    learned_ceiling REAL,
    learned_repeated INTEGER,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE imports (
    id TEXT NOT NULL PRIMARY KEY,
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    created INTEGER NOT NULL CHECK (created >= 0),
    is_running INTEGER NOT NULL CHECK (is_running IN (0, 1)),
    node INTEGER,
    created_at INTEGER NOT NULL,
    UNIQUE (caller, key)
) STRICT;
CREATE TABLE import_batches (
    import TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    batch INTEGER NOT NULL,
    PRIMARY KEY (import, session)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_keys (
    id TEXT NOT NULL PRIMARY KEY,
    public_key TEXT NOT NULL,
    private_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;
CREATE TABLE consumers (
    name TEXT NOT NULL PRIMARY KEY,
    session TEXT,
    sessions TEXT,
    events TEXT NOT NULL,
    acknowledged_through INTEGER NOT NULL CHECK (acknowledged_through >= 0),
    given_up INTEGER NOT NULL DEFAULT 0 CHECK (given_up >= 0),
    last_given_up INTEGER,
    acknowledged_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE consumer_acknowledgements (
    consumer TEXT NOT NULL REFERENCES consumers (name) ON DELETE CASCADE,
    event INTEGER NOT NULL,
    PRIMARY KEY (consumer, event)
) STRICT, WITHOUT ROWID;
CREATE TABLE locations (
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    PRIMARY KEY (name, folder)
) STRICT, WITHOUT ROWID;
CREATE TABLE uploads (
    job TEXT NOT NULL PRIMARY KEY,
    location TEXT NOT NULL,
    object_key TEXT NOT NULL,
    part TEXT NOT NULL,
    upload_id TEXT,
    part_size INTEGER CHECK (part_size > 0),
    begun_at INTEGER NOT NULL,
    is_abandoned INTEGER NOT NULL DEFAULT 0 CHECK (is_abandoned IN (0, 1))
, mark TEXT, released INTEGER NOT NULL DEFAULT 0 CHECK (released >= 0), digest_states TEXT) STRICT;
CREATE TABLE upload_parts (
    job TEXT NOT NULL REFERENCES uploads (job) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 10000),
    etag TEXT NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
INSERT INTO grdb_migrations ("identifier") VALUES ('18: places in the queue');
INSERT INTO grdb_migrations ("identifier") VALUES ('19: nodes');
INSERT INTO grdb_migrations ("identifier") VALUES ('20: held jobs, expected acknowledgements');
INSERT INTO grdb_migrations ("identifier") VALUES ('21: names of indexes');
INSERT INTO grdb_migrations ("identifier") VALUES ('22: hosts');
INSERT INTO grdb_migrations ("identifier") VALUES ('23: starts that nodes claim');
INSERT INTO grdb_migrations ("identifier") VALUES ('24: imports');
INSERT INTO grdb_migrations ("identifier") VALUES ('25: consumers, heads of deliveries, keys of webhooks');
INSERT INTO grdb_migrations ("identifier") VALUES ('26: digests that servers have stated');
INSERT INTO grdb_migrations ("identifier") VALUES ('27: locations');
INSERT INTO grdb_migrations ("identifier") VALUES ('28: uploads to buckets');
INSERT INTO grdb_migrations ("identifier") VALUES ('29: uploads of files that grow');
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing", "revision", "has_consumer", "expects_acknowledgement") VALUES ('default', '{}', 3, 1795940759191, 0, 0, 0, 1, 1);
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing", "revision", "has_consumer", "expects_acknowledgement") VALUES ('films', '{"finishDelaySeconds":5,"headers":[{"name":"Authorization","value":"[secret]"}],"hostRules":[],"lost":["headers","proxy"],"maxConcurrentJobs":2,"metadata":"{}","proxy":{"host":"proxy","port":3128,"scheme":"http"},"timeouts":{},"tls":{"pinnedPublicKeys":{},"verify":true}}
sealed:1:c0884d3cacdf608e:67ZAuw1JZqH/YiEif4cGw1QgV201MIwslzPshQkSjaTwtF1/56pV5NdIrA4V8Z/gDLFm6peEPGwVOPj+zc2TQa8OIkTOXFr0h+Cb6mOBLX/lr8UDhrvdWxKIHKfzFbOpvumYecX4VSxY/Khy1xQjDOOJndrJbpDJdaag9gSkZ+UiCSbgkBeAXtVvgelm570DD6K4R9z2ry1enD2/fORgfijPB+77z/Nvo6zIb3jCAMu6zIRm+jrtv9ASumv+UIwHUqhHQ5wn6lijs479ZVH2lYagrMhMtJbeTAfITRZ+4noj1ytMsZcuQho8GLYdtLtDW3Xm+WDl9fBdkwFvgFvzWB6pg8YZOrNGeIFWKdHV1xIrgpUmiPjKFMllBUe4Z1zYiYOVAPqYCPJpupJAVEg43bK/dya/EHQ9wu8fO37expvY+IlPYi6wTSH4AVlzDg==
', 0, 1566228194000, 0, 0, 1566228194000, 1, 1);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('default', 1, 'acknowledged', 0, 0, 0, 1, NULL, 1, 3, 1566228196000, 1, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('default', 2, 'finished', 0, 0, 0, 1, NULL, 4, 6, 1566228198000, 1, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('films', 1, 'open', 1, 0, 0, 1, NULL, 7, NULL, NULL, 1, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('default', 3, 'open', 9, 1, 1, 0, NULL, 10, NULL, NULL, 1, 0, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7K8PG6FPE3CTSF1JHDK6R', 'default', 1, 'cancelled', 2, '{"url":"https://host/batch-1?...","tags":["batch-1"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:flXBc+ijlK/8HE7DxliH0NgAEdSi9SH7UhNJITJBgzEtlzDW444Co2tysLF9Sbwaad4xu2SFRjo7Fafj5+tRC+7LUSPQO7VkOPOIf7x9bkow9thPVctPu+MjBWI5fOOb/5/bwQk=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228194000, NULL, 1566228194000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KAN0X1FGZ48P7P5GDN2N', 'default', 2, 'cancelled', 2, '{"url":"https://host/batch-2?...","tags":["batch-2"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:8zboyVxNngO6uriyGDSBq0JLkggxFEQnRIhDvr3J06w0UtTkuLz2ug1sCwMgHftwqwqZJZvc6XF7ni6NXOkNK4CcLwYuj+BRDDZY8UZZ1lPfnXrY2C1pV3oZvLvLwy5C6D7Srf8=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228196000, NULL, 1566228196000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2A5', 'films', 1, 'cancelled', 2, '{"url":"https://host/due?...","tags":["due"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:UhGUlv59YmkUXDvhaiRXGxB0U4IZRVO4wxIAsYLvhYapmSXHiC58UpcPnhqt+6FyVvTz261WyK0P6pJSLjwgnVZEwmhk12p8YuRTIIIJ2fQ3NZ5+zuzR4sZwryKO
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2A8', 'default', 3, 'running', 2, '{"url":"https://host/attempting?...","tags":["attempting"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:CjqG4YHaLDffxIlOk/U3L9AYwKCP6BtRSs2kI0KASBBrmb73qYit0bSjSBsbaxs+KZ8FZ0CDxc7nyqHe5CsuirSOKlVAUrJBG+SMK2ZD0oQderRI+6oX4vu4iJ7GxfOiGzFK74PnKxxMRTo=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2AB', 'default', 3, 'running', 3, '{"url":"https://host/promoting?...","tags":["promoting"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:AiNkrHsfY9tpSo7RZi49a2U+/8/ODHBhA3au6KBEUVviyAvDqNn3Ztt2rxPQbf+uFREjiqDJi8wqsQZw7Q4Fuv8otTplKBB5CIZ95xRh2alq6ZG3mxu+GPKHzTtBn/k4O118+Xu9FI3p
', 1, 'host:443', NULL, NULL, NULL, '{"part":{"text":"part_of_job_01DJN7KCKG4VF2G61J4TMXM2AB"},"inode":1,"conflict":"rename","file":{"path":"job_01DJN7KCKG4VF2G61J4TMXM2AB","size":3},"receipt":{"finalURL":"https://host/","redirects":[],"status":200,"networkProtocol":"HTTP/1.1","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2AE', 'default', 3, 'succeeded', 4, '{"url":"https://host/succeeded?...","tags":["succeeded"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:gmfs4CmBi8VNvF4YwyDjraQ0yVw4SWTLB/S/3pSBFCl4YfQSg+RJXzd+SzJIUJV/CzKAuXAkTCTVPAHXk1AEML+ruh/RbeB8I5mGITz3ML18Js1pJU9OV0/UqLpd0bjh8/Ql3iDKp2k0
', 1, 'host:443', NULL, NULL, NULL, NULL, '{"file":{"path":"job_01DJN7KCKG4VF2G61J4TMXM2AE","size":3},"receipt":{"finalURL":"https://host/","redirects":[],"status":200,"networkProtocol":"HTTP/1.1","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', 3, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2AJ', 'default', 3, 'failed', 3, '{"url":"https://host/failed?...","tags":["failed"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:vx96r233W6jpQWnfgDBiEbGGQVebzBfqO+9RCmHSE5ulwjSyzCxb2+BntvMavVB/oB8aPyin1+Q+zR425ZLlSNRA54dBh+3qwNtes//+3v7z6d1sYBO1OETkuFfp89c6R/56
', 1, 'host:443', NULL, NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2AP', 'default', 3, 'paused', 3, '{"url":"https://host/paused?...","tags":["paused"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:a9hZzzMth+G4RRuasVeKhcm5pabsO+OXpLXm+WCPR3KmCKmJfAU4rR5JmHRGH7Gm612M6B4oBu1sx7AnE3TNLtB/7/P2l1qmURiW0h2zyWGVo1FGRaaCJx3gbLMT53fLJpjH
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, NULL, NULL, 604800000, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2AT', 'default', 3, 'waiting', 3, '{"url":"https://host/retry?...","tags":["retry"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:m97yBcCg8nfK3b+0aZQL0TLO0oHyPh6YXOv3GdQlh7H0L+LRJAc+R23kML12FtLssFU4WdXUaS7Mp6bA2rrU4Kf5y6H80P5wDie4V0V92LBlfurtaT0zRExiNL1+ltOs6A==
', 1, 'host:443', 'retry', 1566228248000, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2AY', 'default', 3, 'waiting', 3, '{"url":"https://host/space?...","tags":["space"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:Sk8wENhQM4KislSUxq56N1Y2K/xYFkAWjHfbzzQQwkHP26Y1k95GlV4cAxWsBVuxGxp8kSWWKvALNlll0s5iO0Oea/ndo7d2GktoPpE7mcWNYHjbcR6XiTfYIghjwuOv0g==
', 1, 'host:443', 'space', 1566228228000, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2B2', 'default', 3, 'waiting', 3, '{"url":"https://host/credentials?...","tags":["credentials"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:7/7iX5OvmcM91BtYYya9CSu5g/ARPBh0/eE6mM6ySJ0EcKiTxDzHkZ//odHPs/df3e8qy2fHZHpsTFYrW3RxEH4AJvsk3FV2qtBLD/7z4CCU6lhvwMOkWoRA7phS9RRU2161hhx7VX4APX9Fgg==
', 1, 'host:443', 'credentials', NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2B6', 'default', 3, 'waiting', 3, '{"url":"https://host/url?...","tags":["url"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:0LI6RcIg28BZd/sz+vV+OATO1/4ZRsCeFufP9dGnUD+2kpPSfJ2o7W6ZHKmDKSSY/pDnCODNsp8smDgV/A3rgh+QIUZwWEM6p+ScXlLv7vdn5SDtbSF3gkCG8qGT
', 1, 'host:443', 'url', NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2BA', 'default', 3, 'queued', 1, '{"url":"https://host/queued?...","tags":["queued"],"lost":["credentials","url"]}
sealed:1:c0884d3cacdf608e:7PnW0CTeEu9XUjCIJWDMqas4SWbxFxXk7Zt9pPyiZUt+I84pNMTsYEqRHxINhWiG0nwTWYriVZeqFguoTKc+EgzFOCeUR/k4G4ha06cBcn5yR1Doy+KvBWb8tjKxbraUSanQTNaeBHfk+H5SuiW/vRkkUkfUJcNMXW6FkgnFF6WMtP0Ll01OL+OGRNHWuOqbG2BC+TrP
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2BC', 'default', 3, 'queued', 1, '{"url":"https://host/held?...","notBefore":587921498,"tags":["held"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:lEZ0IW2IaZGSagyHNMGE0xl/ZxXRY8XJwcuX6xUOneXnYniUHR4EvPiYdTY2q0YCZkWWVqWL8jtK00w+7SCath/LSTBeBG2YMz9mM7GPWl8ihpMjIpH0AvV3IYXbLOVKUdR1hQw6uDWIKq3L7W/veJmWtmZM
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, 1566228698000, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests", "wait_location") VALUES ('job_01DJN7KCKG4VF2G61J4TMXM2BF', 'films', 1, 'queued', 1, '{"url":"https://host/claimed?...","lost":["url"]}
sealed:1:c0884d3cacdf608e:Z5mkMIWdO3BsynFZY8jhxy4FAbOCc+MniDcTG7hAHSi9yus0Q2auUcNXsUNV1agyOefkTcyKGikNvN+OZMERfNjn7RbrxKSxyWtqwBeenHyIRw==
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL);
INSERT INTO job_tags ("tag", "job", "session") VALUES ('attempting', 'job_01DJN7KCKG4VF2G61J4TMXM2A8', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('batch-1', 'job_01DJN7K8PG6FPE3CTSF1JHDK6R', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('batch-2', 'job_01DJN7KAN0X1FGZ48P7P5GDN2N', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('credentials', 'job_01DJN7KCKG4VF2G61J4TMXM2B2', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('failed', 'job_01DJN7KCKG4VF2G61J4TMXM2AJ', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('held', 'job_01DJN7KCKG4VF2G61J4TMXM2BC', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('paused', 'job_01DJN7KCKG4VF2G61J4TMXM2AP', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('promoting', 'job_01DJN7KCKG4VF2G61J4TMXM2AB', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('queued', 'job_01DJN7KCKG4VF2G61J4TMXM2BA', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('retry', 'job_01DJN7KCKG4VF2G61J4TMXM2AT', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('space', 'job_01DJN7KCKG4VF2G61J4TMXM2AY', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('succeeded', 'job_01DJN7KCKG4VF2G61J4TMXM2AE', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('url', 'job_01DJN7KCKG4VF2G61J4TMXM2B6', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('due', 'job_01DJN7KCKG4VF2G61J4TMXM2A5', 'films');
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2A8', 'job_01DJN7KCKG4VF2G61J4TMXM2A8', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2AJ', 'job_01DJN7KCKG4VF2G61J4TMXM2AJ', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2AP', 'job_01DJN7KCKG4VF2G61J4TMXM2AP', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, NULL, 604800000, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2AT', 'job_01DJN7KCKG4VF2G61J4TMXM2AT', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2AY', 'job_01DJN7KCKG4VF2G61J4TMXM2AY', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2B2', 'job_01DJN7KCKG4VF2G61J4TMXM2B2', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4VF2G61J4TMXM2B6', 'job_01DJN7KCKG4VF2G61J4TMXM2B6', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (1, 'job.created', 1566228194000, 'default', 'job_01DJN7K8PG6FPE3CTSF1JHDK6R', '{"url":"https://host/batch-1?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (2, 'job.cancelled', 1566228194000, 'default', 'job_01DJN7K8PG6FPE3CTSF1JHDK6R', '{"snapshot":{"id":"job_01DJN7K8PG6FPE3CTSF1JHDK6R","session":"default","batch":1,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/batch-1?...","destination":{"location":null,"directory":null,"filename":null,"on_conflict":null,"create_directories":true,"staging":null},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:14.000Z","started_at":null,"finished_at":"2019-08-19T15:23:14.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["batch-1"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (3, 'session.finished', 1566228196000, 'default', NULL, '{"batch":1,"outcome":"cancelled","counts":{"succeeded":0,"failed":0,"cancelled":1},"first_event":1,"last_event":2,"failures":[]}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (4, 'job.created', 1566228196000, 'default', 'job_01DJN7KAN0X1FGZ48P7P5GDN2N', '{"url":"https://host/batch-2?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (5, 'job.cancelled', 1566228196000, 'default', 'job_01DJN7KAN0X1FGZ48P7P5GDN2N', '{"snapshot":{"id":"job_01DJN7KAN0X1FGZ48P7P5GDN2N","session":"default","batch":2,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/batch-2?...","destination":{"location":null,"directory":null,"filename":null,"on_conflict":null,"create_directories":true,"staging":null},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:16.000Z","started_at":null,"finished_at":"2019-08-19T15:23:16.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["batch-2"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (6, 'session.finished', 1566228198000, 'default', NULL, '{"batch":2,"outcome":"cancelled","counts":{"succeeded":0,"failed":0,"cancelled":1},"first_event":4,"last_event":5,"failures":[]}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (7, 'job.created', 1566228198000, 'films', 'job_01DJN7KCKG4VF2G61J4TMXM2A5', '{"url":"https://host/due?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (8, 'job.cancelled', 1566228198000, 'films', 'job_01DJN7KCKG4VF2G61J4TMXM2A5', '{"snapshot":{"id":"job_01DJN7KCKG4VF2G61J4TMXM2A5","session":"films","batch":1,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/due?...","destination":{"location":null,"directory":null,"filename":null,"on_conflict":null,"create_directories":true,"staging":null},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":null,"finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["due"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (9, 'webhook.disabled', 1566228198000, 'films', NULL, '{"webhook":"gone","reason":"The endpoint answered 410: it is gone."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (10, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2A8', '{"url":"https://host/attempting?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (11, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2A8', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (12, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AB', '{"url":"https://host/promoting?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (13, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AB', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (14, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AE', '{"url":"https://host/succeeded?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (15, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AE', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (16, 'job.succeeded', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AE', '{"snapshot":{"id":"job_01DJN7KCKG4VF2G61J4TMXM2AE","session":"default","batch":3,"state":"succeeded","phase":null,"reason":null,"revision":4,"url":"https://host/succeeded?...","destination":{"location":null,"directory":null,"filename":null,"on_conflict":null,"create_directories":true,"staging":null},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":"2019-08-19T15:23:18.000Z","finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":3,"bytes_durable":3,"bytes_expected":3,"fraction":1,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":1,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":{"path":"job_01DJN7KCKG4VF2G61J4TMXM2AE","location":"default","size":3,"sha256":null,"content_type":null,"url":null,"etag":null,"version_id":null},"receipt":{"final_url":"https://host/","redirects":[],"status":200,"etag":null,"last_modified":null,"remote_address":null,"protocol":"HTTP/1.1","length_verified":true,"verified_by":null,"checksum":null,"dropped_mirrors":[],"resumed_by":null,"coding":null,"attempts":1,"timings":{"connect_seconds":0,"first_byte_seconds":0,"transfer_seconds":0,"total_seconds":0}},"tags":["succeeded"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (17, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AJ', '{"url":"https://host/failed?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (18, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AJ', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (19, 'job.failed', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AJ', '{"snapshot":{"id":"job_01DJN7KCKG4VF2G61J4TMXM2AJ","session":"default","batch":3,"state":"failed","phase":null,"reason":null,"revision":3,"url":"https://host/failed?...","destination":{"location":null,"directory":null,"filename":null,"on_conflict":null,"create_directories":true,"staging":null},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":"2019-08-19T15:23:18.000Z","finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":5,"bytes_durable":5,"bytes_expected":10,"fraction":0.5,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":1,"retry_at":null,"challenge":null,"cause":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"},"file":null,"receipt":null,"tags":["failed"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (20, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AP', '{"url":"https://host/paused?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (21, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AP', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (22, 'job.paused', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AP', '{"bytes_durable":5}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (23, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AT', '{"url":"https://host/retry?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (24, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AT', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (25, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AT', '{"reason":"retry","retry_at":"2019-08-19T15:24:08.000Z","challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (26, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AY', '{"url":"https://host/space?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (27, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AY', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (28, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2AY', '{"reason":"space","retry_at":"2019-08-19T15:23:48.000Z","challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (29, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2B2', '{"url":"https://host/credentials?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (30, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2B2', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (31, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2B2', '{"reason":"credentials","retry_at":null,"challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (32, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2B6', '{"url":"https://host/url?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (33, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2B6', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (34, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2B6', '{"reason":"url","retry_at":null,"challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (35, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2BA', '{"url":"https://host/queued?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (36, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4VF2G61J4TMXM2BC', '{"url":"https://host/held?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (37, 'job.created', 1566228198000, 'films', 'job_01DJN7KCKG4VF2G61J4TMXM2BF', '{"url":"https://host/claimed?..."}');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls", "reach", "format", "signatures") VALUES (1, 'default', 'hook', 'https://c/hook?...
sealed:1:c0884d3cacdf608e:hw8+ZMcGfrt748+mDiNXk6/EVxiZVFYeXeoEVYotBycxz5t+1eY7bs1BsZVwRkrst3yoM5SWUzaO5+E=
', 'session.* job.*', '
sealed:1:c0884d3cacdf608e:SSuBWxqy1OjtMIKWo4su7w8FpsN0a5rPy9fDYvVzRBFSkhjfrPkd/w0dJ07fLE4QbsEyLEED6J79kZOGTM/UjiVjEFfjSKWArf2kPDiQ
', 'enabled', NULL, 1566228194000, 1566228198000, '[]', '[{"name":"X-Tenant","value":"[secret]"}]
sealed:1:c0884d3cacdf608e:r8L+vn/MLv0KTk11EH4XUbwDegH3BFjYahhS+4iJ3S7MMi9iOxJx3/XWlt+ZfaG1u0bAclWmyroMOXBE4w4oSsuE2GTdRoKRZ28=
', '{"pinnedPublicKeys":{},"verify":true}', 'any', 'standard', 'v1');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls", "reach", "format", "signatures") VALUES (2, 'films', 'gone', 'https://c/gone?...
sealed:1:c0884d3cacdf608e:OlH6koGOJ5Ztvs3rsCAY4dUxGJDf2HFsUiam/896DLrlD9czWryoT70AHKCaFBB1xW1JJPZhBgzz+A4=
', 'session.* job.*', '
sealed:1:c0884d3cacdf608e:5Gn1ZS4MFRjKPuUuDEtYkT5J7Bjzo6kV29Lt9KT7TIRcPGU9iTal8C3IFVmweSTxI/U9WGqKUUci1gvixJDQshE+3wdfvvHf6ts2wC8a
', 'disabled', 'The endpoint answered 410: it is gone.', 1566228194000, NULL, '[]', '[{"name":"X-Tenant","value":"[secret]"}]
sealed:1:c0884d3cacdf608e:oaCtCjQtYo04HOGB/Wu7yL6IzMzr5+nZiMS1HiG5j7uoxBeBQOXbTNtJmxqCC76HZGAxg3DQmsJhmHvHPvvnKsQAuM7ByBJag6A=
', '{"pinnedPublicKeys":{},"verify":true}', 'any', 'standard', 'v1');
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7K8PG6FPE3CTSF1JHDK6S', 1, 'hook', 'default', 1, 'job.created', 'acknowledged', NULL, 1, 0, NULL, 1, 1);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7K8PG6FPE3CTSF1JHDK6T', 1, 'hook', 'default', 2, 'job.cancelled', 'exhausted', NULL, 1, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0X1FGZ48P7P5GDN2M', 1, 'hook', 'default', 3, 'session.finished', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0X1FGZ48P7P5GDN2P', 1, 'hook', 'default', 4, 'job.created', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0X1FGZ48P7P5GDN2Q', 1, 'hook', 'default', 5, 'job.cancelled', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2A4', 1, 'hook', 'default', 6, 'session.finished', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2A6', 2, 'gone', 'films', 7, 'job.created', 'cancelled', NULL, 1, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2A7', 2, 'gone', 'films', 8, 'job.cancelled', 'cancelled', NULL, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2A9', 1, 'hook', 'default', 10, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AA', 1, 'hook', 'default', 11, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AC', 1, 'hook', 'default', 12, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AD', 1, 'hook', 'default', 13, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AF', 1, 'hook', 'default', 14, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AG', 1, 'hook', 'default', 15, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AH', 1, 'hook', 'default', 16, 'job.succeeded', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AK', 1, 'hook', 'default', 17, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AM', 1, 'hook', 'default', 18, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AN', 1, 'hook', 'default', 19, 'job.failed', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AQ', 1, 'hook', 'default', 20, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AR', 1, 'hook', 'default', 21, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AS', 1, 'hook', 'default', 22, 'job.paused', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AV', 1, 'hook', 'default', 23, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AW', 1, 'hook', 'default', 24, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AX', 1, 'hook', 'default', 25, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2AZ', 1, 'hook', 'default', 26, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B0', 1, 'hook', 'default', 27, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B1', 1, 'hook', 'default', 28, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B3', 1, 'hook', 'default', 29, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B4', 1, 'hook', 'default', 30, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B5', 1, 'hook', 'default', 31, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B7', 1, 'hook', 'default', 32, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B8', 1, 'hook', 'default', 33, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2B9', 1, 'hook', 'default', 34, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2BB', 1, 'hook', 'default', 35, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2BD', 1, 'hook', 'default', 36, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook", "exchange") VALUES ('dlv_01DJN7K8PG6FPE3CTSF1JHDK6S', 1, 1566228198000, 204, NULL, 0.1, 'answer', 1, NULL);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook", "exchange") VALUES ('dlv_01DJN7K8PG6FPE3CTSF1JHDK6T', 1, 1566228198000, 500, NULL, 0.1, 'answer', 1, NULL);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook", "exchange") VALUES ('dlv_01DJN7KCKG4VF2G61J4TMXM2A6', 1, 1566228198000, 410, NULL, 0.1, 'answer', 2, NULL);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('default', 2, 2, 4, 1, 1, 1, 2, 3, 3, 7, 33, 63);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('films', 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0);
INSERT INTO service_counts ("id", "parts", "part_bytes", "deliveries_pending", "deliveries_acknowledged", "deliveries_exhausted", "deliveries_cancelled", "finishes_unacknowledged") VALUES (1, 7, 35, 31, 1, 1, 2, 1);
INSERT INTO history ("identity", "commits", "began_at", "last_id") VALUES ('b438257b29824eb55593', 48, 1795940759191, NULL);
INSERT INTO sealing ("id", "step", "key_check") VALUES (1, 'done', 'sealed:1:c0884d3cacdf608e:5MIyUGrdAJ6djoKs2nReZNJ2rqIGBrEFkGOBMu9oWm5U5g==');
INSERT INTO clock ("id", "time", "uptime", "boot", "last_event") VALUES (1, 1566228194000, 1000000, 'boot', 0);
INSERT INTO tokens ("id", "digest", "former_digest", "former_until", "name", "scope", "sessions", "quotas", "created_at", "expires_at", "last_used_at", "locations") VALUES ('tok_01DJN7KCKG4VF2G61J4TMXM2BE', X'0707070707070707070707070707070707070707070707070707070707070707', NULL, NULL, 'films', 'jobs', '["films"]', '{}', 1566228198000, NULL, NULL, NULL);
INSERT INTO audit ("id", "time", "caller", "name", "address", "action", "target", "outcome", "reason", "count", "change") VALUES (1, 1566228198000, NULL, NULL, '127.0.0.1', 'token.create', 'tok_01DJN7KCKG4VF2G61J4TMXM2BE', 'done', NULL, 1, NULL);
INSERT INTO idempotency_keys ("caller", "route", "key", "fingerprint", "location", "answer", "created_at") VALUES ('tok_01DJN7KCKG4VF2G61J4TMXM2BE', 'POST /v1/jobs', 'k', X'62', '/v1/jobs/job_01DJN7KCKG4VF2G61J4TMXM2BF', X'0A7365616C65643A313A633038383464336361636466363038653A464941634F655A53546E2B47356D75395678582B63485644766F6D46506D473573666D6C4D41616D0A', 1566228198000);
INSERT INTO hosts ("host", "closed_until", "reason", "status", "closures_in_a_row", "learned_rate", "learned_at", "learned_ceiling", "learned_repeated", "changed_at") VALUES ('h:443', 1566232600000, 'refused', 429, 1, 8.0, 1566229000000, 10.0, 0, 1566229000000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('webhooks', 2);
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('events', 37);
INSERT INTO sqlite_sequence ("name", "seq") VALUES ('audit', 1);
CREATE INDEX sessions_finishing ON sessions (id) WHERE is_finishing = 1;
CREATE UNIQUE INDEX batches_taking_jobs ON batches (session) WHERE state IN ('open', 'due');
CREATE INDEX batches_due ON batches (due_at) WHERE state = 'due';
CREATE INDEX batches_unacknowledged ON batches (session, finished_at) WHERE state = 'finished';
CREATE INDEX batches_untaken ON batches (session, first_event) WHERE state <> 'acknowledged';
CREATE INDEX batches_by_finish ON batches (finish_event) WHERE finish_event IS NOT NULL;
CREATE INDEX jobs_running ON jobs (session, host) WHERE state = 'running';
CREATE INDEX jobs_running_by_age ON jobs (id, session) WHERE state = 'running';
CREATE INDEX jobs_waiting ON jobs (retry_at) WHERE retry_at IS NOT NULL;
CREATE INDEX jobs_by_session ON jobs (session, id);
CREATE INDEX jobs_failed ON jobs (session, batch, id) WHERE state = 'failed';
CREATE INDEX jobs_by_token ON jobs (token, state) WHERE token IS NOT NULL;
CREATE INDEX jobs_queue_by_age ON jobs (priority, session, id, host) WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL;
CREATE INDEX jobs_queue_by_host ON jobs (priority, session, host, id) WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL;
CREATE INDEX jobs_moved_by_rank ON jobs (priority, session, queue_rank, id, host) WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL;
CREATE INDEX jobs_moved_by_host ON jobs (priority, session, host, queue_rank, id) WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL;
CREATE INDEX jobs_moved ON jobs (session, priority, queue_rank) WHERE queue_rank IS NOT NULL;
CREATE UNIQUE INDEX jobs_by_gid ON jobs (session, gid) WHERE gid IS NOT NULL;
CREATE INDEX job_tags_by_job ON job_tags (job);
CREATE INDEX job_tags_by_session ON job_tags (session, tag, job);
CREATE INDEX parts_expiring ON parts (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX parts_short_lived ON parts (expires_at) WHERE expires_at IS NOT NULL AND lifetime < 3600000;
CREATE INDEX events_by_session ON events (session, id);
CREATE INDEX events_by_job ON events (job, id) WHERE job IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (webhook, event) WHERE state = 'pending';
CREATE INDEX deliveries_by_event ON deliveries (event);
CREATE INDEX deliveries_due ON deliveries (webhook, next_attempt_at, event) WHERE state = 'pending' AND type <> 'session.finished';
CREATE INDEX deliveries_waiting ON deliveries (webhook, next_attempt_at) WHERE state = 'pending' AND tries > 0 AND next_attempt_at > not_before;
CREATE INDEX deliveries_settled ON deliveries (webhook, state, event) WHERE state <> 'pending';
CREATE INDEX delivery_attempts_by_webhook ON delivery_attempts (webhook, at, status, latency_seconds);
CREATE INDEX clock_jumps_by_event ON clock_jumps (last_event);
CREATE INDEX audit_by_time ON audit (time);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX batches_awaited ON batches (session, finished_at) WHERE state = 'finished' AND is_awaited = 1;
CREATE INDEX batches_unreported ON batches (finish_event) WHERE state = 'finished' AND is_awaited = 1 AND is_reported = 0;
CREATE INDEX jobs_blocked ON jobs (session, id) WHERE reason IN ('credentials', 'url');
CREATE INDEX jobs_scheduled ON jobs (held_until) WHERE held_until IS NOT NULL;
CREATE INDEX jobs_by_fail_time ON jobs (fails_at) WHERE fails_at IS NOT NULL;
CREATE INDEX jobs_not_running ON jobs (state, id) WHERE state <> 'running';
CREATE INDEX jobs_not_running_by_session ON jobs (session, state, id, batch, file_size) WHERE state <> 'running';
CREATE INDEX hosts_by_change ON hosts (changed_at);
CREATE INDEX jobs_waiting_for_location ON jobs (wait_location, retry_at) WHERE wait_location IS NOT NULL;
