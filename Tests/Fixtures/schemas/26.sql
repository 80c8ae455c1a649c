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
    gid TEXT, node INTEGER, admissions INTEGER NOT NULL DEFAULT 0, times_held_off INTEGER NOT NULL DEFAULT 0, stated_digests TEXT,
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
    last_used_at INTEGER,
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
INSERT INTO grdb_migrations ("identifier") VALUES ('18: places in the queue');
INSERT INTO grdb_migrations ("identifier") VALUES ('19: nodes');
INSERT INTO grdb_migrations ("identifier") VALUES ('20: held jobs, expected acknowledgements');
INSERT INTO grdb_migrations ("identifier") VALUES ('21: names of indexes');
INSERT INTO grdb_migrations ("identifier") VALUES ('22: hosts');
INSERT INTO grdb_migrations ("identifier") VALUES ('23: starts that nodes claim');
INSERT INTO grdb_migrations ("identifier") VALUES ('24: imports');
INSERT INTO grdb_migrations ("identifier") VALUES ('25: consumers, heads of deliveries, keys of webhooks');
INSERT INTO grdb_migrations ("identifier") VALUES ('26: digests that servers have stated');
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing", "revision", "has_consumer", "expects_acknowledgement") VALUES ('default', '{}', 3, 1795876243409, 0, 0, 0, 1, 1);
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing", "revision", "has_consumer", "expects_acknowledgement") VALUES ('films', '{"finishDelaySeconds":5,"headers":[{"name":"Authorization","value":"[secret]"}],"hostRules":[],"lost":["headers","proxy"],"maxConcurrentJobs":2,"metadata":"{}","proxy":{"host":"proxy","port":3128,"scheme":"http"},"timeouts":{},"tls":{"pinnedPublicKeys":{},"verify":true}}
sealed:1:c0884d3cacdf608e:GZdR/uQVcm5hpjt/wNMKiGqKgDW2jMV7E67fJOZkRiCY23Z2rvx2tqsWkTZgBcrz1Wumjn0lYPSXJS5t98Z3pmb7/yDzvG/CUnzh5dZdNmOBB7HVfKPfLXpSWhl7rpzJbMYFDRp1QG7/6UjgD3142zW0wZQd7sLx6ObCcRWGYilZ26NXq+0W+JtCB1nxlYhBbOHUyRWNdoaSISjRcr3GhHD1s/h4QfS0GUFC0u3iZNI+6JvMQ/IzL34scpcYcQ2yKh81T/sNSBxJsq397bGltGqjnvQeyiD+sQ1RPAQaN46ogAE+5p2rYcoWJVRk81D4tTlcBsv+cjESQLO2H1/SbUj5Jb6zb9XvOQ+OLFK/Chh9SecqJaPWF25iB0NTgA6mxQblppCXTchxPMZQFSsGL+2HjDTQqGD2W0LBOWGLjD4AkLrqivmQoPbisT4Xxg==
', 0, 1566228194000, 0, 0, 1566228194000, 1, 1);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('default', 1, 'acknowledged', 0, 0, 0, 1, NULL, 1, 3, 1566228196000, 1, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('default', 2, 'finished', 0, 0, 0, 1, NULL, 4, 6, 1566228198000, 1, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('films', 1, 'open', 1, 0, 0, 1, NULL, 7, NULL, NULL, 1, 0, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported", "imports") VALUES ('default', 3, 'open', 9, 1, 1, 0, NULL, 10, NULL, NULL, 1, 0, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7K8PGQSR3FFPGP44XT3M1', 'default', 1, 'cancelled', 2, '{"url":"https://host/batch-1?...","tags":["batch-1"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:/lzJYXSrmUV5B0zukXNRepKrSRmLBD3xQ8odQsErtr/UEY7oCnE7HgMKRR4wo7Xe8jBOv/tPia67gFuhYjbPg+F0QRcFwVi9KEYAdZBJ0ny4tuWwRJjzZ2N4pG0/kRT+ysfFx8Y=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228194000, NULL, 1566228194000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KAN0HYZMGEAEWP11CKRR', 'default', 2, 'cancelled', 2, '{"url":"https://host/batch-2?...","tags":["batch-2"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:bD8VoKI/0gqBCJhO8LnqficVZ+7X5WB0lzikW2BPmIh7SIeTdccAdLY9jqSgw1/8kqKsNqdPLJvCL6OnynSQThYmIH06uCBLA46GPuZ3yDrhPNUbJDRkRkk7nAFQIPL1u1k6CTM=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228196000, NULL, 1566228196000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS66', 'films', 1, 'cancelled', 2, '{"url":"https://host/due?...","tags":["due"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:igM9YIKXOpMGbc1yYVeKJFcr7jOlVUZWvsXoIwBK8PbSxzJNGjxemfSN9FaZ45OEMfU3nN/+wAP3MA4O/pHUa6BqWCO3K6uaM/Zc3aLoGqTf6S5CqGyoKMRNNcLG
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS69', 'default', 3, 'running', 2, '{"url":"https://host/attempting?...","tags":["attempting"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:xnKHfdji7JFU7pSaDqssMpt6SDELaqwQVx+70OXAzfdEWDsvuOcGDL1JdAvGXXsAoYENZJwvfhwhBJRCLju+3CosYIEN8QTqpXESRhGXc5L6f61tTvLL3ne5YPh425XcgDTZQ5PNmOqHYF8=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS6C', 'default', 3, 'running', 3, '{"url":"https://host/promoting?...","tags":["promoting"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:FDyVIWvnWBjK6X3xtYMCB48Gv5Ke1wWCCmxgwqRnvUPZIvCA0qgEfTghlVtzR/SLkHhQaWNIqC+TER/l0Jufg0u9T0QULeAEsq3qtfX9ZwWwpmhwOYy+WOb2TnYQLo1GVH5EFLpyvQY0
', 1, 'host:443', NULL, NULL, NULL, '{"part":{"text":"part_of_job_01DJN7KCKG4T499QCNBMX2XS6C"},"inode":1,"conflict":"rename","file":{"path":"job_01DJN7KCKG4T499QCNBMX2XS6C","size":3},"receipt":{"finalURL":"https://host/","redirects":[],"status":200,"networkProtocol":"HTTP/1.1","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS6F', 'default', 3, 'succeeded', 4, '{"url":"https://host/succeeded?...","tags":["succeeded"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:u3Lqs1yHeUmiEJYMuLX3pjUGDNhvFXRhy8mPZHRDzZv2o+FxlkVIPfvLW4lxOOQsjtqUSDFh8bTmfKTFepzPtP2Y06KBoqAODXqoFO+XUz3s5EHiOOUD7PKTjVRk12zWZvQOaDnEZpCF
', 1, 'host:443', NULL, NULL, NULL, NULL, '{"file":{"path":"job_01DJN7KCKG4T499QCNBMX2XS6F","size":3},"receipt":{"finalURL":"https://host/","redirects":[],"status":200,"networkProtocol":"HTTP/1.1","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', 3, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS6K', 'default', 3, 'failed', 3, '{"url":"https://host/failed?...","tags":["failed"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:TqBKDBvB7S/FSR7MqEISPCS4SwpEspieMC0ZZI75gB9tJWV3JpgxJJPv9d1/XK0hMSAw8Qdadekl5W4P+LdCJBcRxqY8jjgGR4re9lMiZ0t2KpobReR70rD6JHedf25oYFfj
', 1, 'host:443', NULL, NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS6Q', 'default', 3, 'paused', 3, '{"url":"https://host/paused?...","tags":["paused"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:09APU2T1hg+7XjXDzMJRI+tJT3L6aECHvwO+uYwCV8JznEMc0xiq9m53+kF5mqVd8WrkQ8G6MJe4vIp7BKjGspiMC15coqKurKHvbvbb87q9hBtmBXEGeeL8HmsZy7t9nNhx
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, NULL, NULL, 604800000, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS6V', 'default', 3, 'waiting', 3, '{"url":"https://host/retry?...","tags":["retry"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:BrUlL0iCXbspfWAJyKMwQfGXCjMt53ErG1gpNv7lFOzGn7fo10tBcxVwusjxEFBHmzsZav3gHloAwNnM7KfIYHtDajJaW2RQv0uSl01smwcIh6KSyJ8yNF7pdS82lYtcEg==
', 1, 'host:443', 'retry', 1566228248000, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS6Z', 'default', 3, 'waiting', 3, '{"url":"https://host/space?...","tags":["space"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:isakn+NUX3S1m4+x/SAL3he2XIHjKtLQJeZIakTeCkrECQsn1Ikhq+59j183q41WYX295wRl+t/QnjPmJOb/ExstyLZnA71T/L617FByhCGeAMFgDPgF54i+mWGhFt4FVg==
', 1, 'host:443', 'space', 1566228228000, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS73', 'default', 3, 'waiting', 3, '{"url":"https://host/credentials?...","tags":["credentials"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:8AzlxS7i6UZ/4LbtCpWDV0Mn4JbCMcAXhbXyw9rPOCdYT/HwEYl5VUUzX8eh6U92neqe1M+1FPwQ+pCk1ShGwANDaCwUCwSg4P+wUret2tqDRn22bSkF0ee0uMC4VrOyGVuYNo3XgGcd5M80kA==
', 1, 'host:443', 'credentials', NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS77', 'default', 3, 'waiting', 3, '{"url":"https://host/url?...","tags":["url"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:J2zcLLjc1b2RLIYFbsUFS8/8blJPxsngHamRYKREs7GsuvRntw/sZFOAwokuMCuPpptvbfqse0zZTYoueh8j/RESB1G16Gy//iGfqKrwlwAenYSlE8Zgpap0WH7s
', 1, 'host:443', 'url', NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS7B', 'default', 3, 'queued', 1, '{"url":"https://host/queued?...","tags":["queued"],"lost":["credentials","url"]}
sealed:1:c0884d3cacdf608e:uf0M4UFfWIbD+8XlxmixiDCXmslwYDR90M5e057DRJ9ajWpAyqHroby/QR5Njced6g0o8fWQYxyD7puuHZ+0VjqzYO2LO5HsfsSwWhIeRcSFWk9jroDxuCKugTFjNJRoxV0AE7YwFVcwxpcpiG/YfeaBzDdFMybljHpafyU8YyNXN67QDbiV0SEfg/xXiGJNC0R0CE19
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS7D', 'default', 3, 'queued', 1, '{"url":"https://host/held?...","notBefore":587921498,"tags":["held"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:0ig3mW6aSwRvFQVwvQg95BkDw/rP6pAEvu0X7ceNZ8EMEI3NDgr+CcUpikexl1wINowtgJ1UsBmYKgIyzIH2gfXXonw5WD508CecvqujJtL5Z8KnrTwkyz+FnX97SZbR+4kiLGpWIzfUrrylp+qKC8rOMdB7
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, 1566228698000, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions", "times_held_off", "stated_digests") VALUES ('job_01DJN7KCKG4T499QCNBMX2XS7G', 'films', 1, 'queued', 1, '{"url":"https://host/claimed?...","lost":["url"]}
sealed:1:c0884d3cacdf608e:fZhA6OUoYzckHLLBiJVPxx+9LkTBCcTA2rL8BWXIHWFA0Xd2dxBoSuQOTWTMgm5FiwZBj/nwXfuuogUnjroj9Mb7OWnhPAsKBQXo+w521KW6DQ==
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO job_tags ("tag", "job", "session") VALUES ('attempting', 'job_01DJN7KCKG4T499QCNBMX2XS69', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('batch-1', 'job_01DJN7K8PGQSR3FFPGP44XT3M1', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('batch-2', 'job_01DJN7KAN0HYZMGEAEWP11CKRR', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('credentials', 'job_01DJN7KCKG4T499QCNBMX2XS73', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('failed', 'job_01DJN7KCKG4T499QCNBMX2XS6K', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('held', 'job_01DJN7KCKG4T499QCNBMX2XS7D', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('paused', 'job_01DJN7KCKG4T499QCNBMX2XS6Q', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('promoting', 'job_01DJN7KCKG4T499QCNBMX2XS6C', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('queued', 'job_01DJN7KCKG4T499QCNBMX2XS7B', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('retry', 'job_01DJN7KCKG4T499QCNBMX2XS6V', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('space', 'job_01DJN7KCKG4T499QCNBMX2XS6Z', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('succeeded', 'job_01DJN7KCKG4T499QCNBMX2XS6F', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('url', 'job_01DJN7KCKG4T499QCNBMX2XS77', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('due', 'job_01DJN7KCKG4T499QCNBMX2XS66', 'films');
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS69', 'job_01DJN7KCKG4T499QCNBMX2XS69', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS6K', 'job_01DJN7KCKG4T499QCNBMX2XS6K', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS6Q', 'job_01DJN7KCKG4T499QCNBMX2XS6Q', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, NULL, 604800000, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS6V', 'job_01DJN7KCKG4T499QCNBMX2XS6V', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS6Z', 'job_01DJN7KCKG4T499QCNBMX2XS6Z', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS73', 'job_01DJN7KCKG4T499QCNBMX2XS73', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests", "etag_is_recent", "joined_by_evidence") VALUES ('part_of_job_01DJN7KCKG4T499QCNBMX2XS77', 'job_01DJN7KCKG4T499QCNBMX2XS77', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (1, 'job.created', 1566228194000, 'default', 'job_01DJN7K8PGQSR3FFPGP44XT3M1', '{"url":"https://host/batch-1?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (2, 'job.cancelled', 1566228194000, 'default', 'job_01DJN7K8PGQSR3FFPGP44XT3M1', '{"snapshot":{"id":"job_01DJN7K8PGQSR3FFPGP44XT3M1","session":"default","batch":1,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/batch-1?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:14.000Z","started_at":null,"finished_at":"2019-08-19T15:23:14.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["batch-1"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (3, 'session.finished', 1566228196000, 'default', NULL, '{"batch":1,"outcome":"cancelled","counts":{"succeeded":0,"failed":0,"cancelled":1},"first_event":1,"last_event":2,"failures":[]}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (4, 'job.created', 1566228196000, 'default', 'job_01DJN7KAN0HYZMGEAEWP11CKRR', '{"url":"https://host/batch-2?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (5, 'job.cancelled', 1566228196000, 'default', 'job_01DJN7KAN0HYZMGEAEWP11CKRR', '{"snapshot":{"id":"job_01DJN7KAN0HYZMGEAEWP11CKRR","session":"default","batch":2,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/batch-2?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:16.000Z","started_at":null,"finished_at":"2019-08-19T15:23:16.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["batch-2"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (6, 'session.finished', 1566228198000, 'default', NULL, '{"batch":2,"outcome":"cancelled","counts":{"succeeded":0,"failed":0,"cancelled":1},"first_event":4,"last_event":5,"failures":[]}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (7, 'job.created', 1566228198000, 'films', 'job_01DJN7KCKG4T499QCNBMX2XS66', '{"url":"https://host/due?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (8, 'job.cancelled', 1566228198000, 'films', 'job_01DJN7KCKG4T499QCNBMX2XS66', '{"snapshot":{"id":"job_01DJN7KCKG4T499QCNBMX2XS66","session":"films","batch":1,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/due?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":null,"finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["due"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (9, 'webhook.disabled', 1566228198000, 'films', NULL, '{"webhook":"gone","reason":"The endpoint answered 410: it is gone."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (10, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS69', '{"url":"https://host/attempting?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (11, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS69', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (12, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6C', '{"url":"https://host/promoting?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (13, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6C', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (14, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6F', '{"url":"https://host/succeeded?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (15, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6F', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (16, 'job.succeeded', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6F', '{"snapshot":{"id":"job_01DJN7KCKG4T499QCNBMX2XS6F","session":"default","batch":3,"state":"succeeded","phase":null,"reason":null,"revision":4,"url":"https://host/succeeded?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":"2019-08-19T15:23:18.000Z","finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":3,"bytes_durable":3,"bytes_expected":3,"fraction":1,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":1,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":{"path":"job_01DJN7KCKG4T499QCNBMX2XS6F","size":3,"sha256":null,"content_type":null},"receipt":{"final_url":"https://host/","redirects":[],"status":200,"etag":null,"last_modified":null,"remote_address":null,"protocol":"HTTP/1.1","length_verified":true,"verified_by":null,"resumed_by":null,"coding":null,"attempts":1,"timings":{"connect_seconds":0,"first_byte_seconds":0,"transfer_seconds":0,"total_seconds":0}},"tags":["succeeded"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (17, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6K', '{"url":"https://host/failed?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (18, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6K', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (19, 'job.failed', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6K', '{"snapshot":{"id":"job_01DJN7KCKG4T499QCNBMX2XS6K","session":"default","batch":3,"state":"failed","phase":null,"reason":null,"revision":3,"url":"https://host/failed?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"queue":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":"2019-08-19T15:23:18.000Z","finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":5,"bytes_durable":5,"bytes_expected":10,"fraction":0.5,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":1,"retry_at":null,"challenge":null,"cause":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"},"file":null,"receipt":null,"tags":["failed"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (20, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6Q', '{"url":"https://host/paused?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (21, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6Q', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (22, 'job.paused', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6Q', '{"bytes_durable":5}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (23, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6V', '{"url":"https://host/retry?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (24, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6V', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (25, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6V', '{"reason":"retry","retry_at":"2019-08-19T15:24:08.000Z","challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (26, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6Z', '{"url":"https://host/space?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (27, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6Z', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (28, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS6Z', '{"reason":"space","retry_at":"2019-08-19T15:23:48.000Z","challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (29, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS73', '{"url":"https://host/credentials?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (30, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS73', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (31, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS73', '{"reason":"credentials","retry_at":null,"challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (32, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS77', '{"url":"https://host/url?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (33, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS77', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (34, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS77', '{"reason":"url","retry_at":null,"challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (35, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS7B', '{"url":"https://host/queued?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (36, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKG4T499QCNBMX2XS7D', '{"url":"https://host/held?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (37, 'job.created', 1566228198000, 'films', 'job_01DJN7KCKG4T499QCNBMX2XS7G', '{"url":"https://host/claimed?..."}');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls", "reach", "format", "signatures") VALUES (1, 'default', 'hook', 'https://c/hook?...
sealed:1:c0884d3cacdf608e:WnmAbM/9DHoiNE4WqO9Mibfy26ag14rr/BaGhBIPFx5XypQU46oGfehZOoDBBeT10w5XwapQjl57JPo=
', 'session.* job.*', '
sealed:1:c0884d3cacdf608e:jeT6LL+yu/sPqy1/GWb2D1d1zm66TirnaArb7q4/I/3f9CsFDe6SnnazfRQtmz+H7oF+wZU4r9nDwKv4SuympZeCLxD3GX0iXbCZw4EA
', 'enabled', NULL, 1566228194000, 1566228198000, '[]', '[{"name":"X-Tenant","value":"[secret]"}]
sealed:1:c0884d3cacdf608e:3AhX73KF/rqluyvgbtWN9pK0jyGUPPsJjk1LaV50Tt3XIjsSzPdSAgMIMai9wVIrCqWGAukGD3//3By5P74Ts67BsZb7LDpWSJM=
', '{"pinnedPublicKeys":{},"verify":true}', 'any', 'standard', 'v1');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls", "reach", "format", "signatures") VALUES (2, 'films', 'gone', 'https://c/gone?...
sealed:1:c0884d3cacdf608e:zDBElqHBfq1mrV8Xhnt1EzQtY/TzJ7ydFcaXB1Mp/zmXGRg+9J+fpYeQMEYlSWP7sjP9vkAyi9TLgek=
', 'session.* job.*', '
sealed:1:c0884d3cacdf608e:jmEnvX6YyRY6+DvJqKREzpnpQU3rW7ufqqsihN1nag+UEEUlcFLwztMxpmQbBiIHJ1suKkitO3zgWt4CNu8M1PTyEB1cSfvnQ7t2oElW
', 'disabled', 'The endpoint answered 410: it is gone.', 1566228194000, NULL, '[]', '[{"name":"X-Tenant","value":"[secret]"}]
sealed:1:c0884d3cacdf608e:1OuiCPryVSrjlDFnptFeXBD9S8qNlmQhAOuksjIIchE9VII3adL05mvaBVl3BJhfXN7vo6gB1pJhaowyN3JWID8DwtI97hohZH8=
', '{"pinnedPublicKeys":{},"verify":true}', 'any', 'standard', 'v1');
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7K8PGQSR3FFPGP44XT3M2', 1, 'hook', 'default', 1, 'job.created', 'acknowledged', NULL, 1, 0, NULL, 1, 1);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7K8PGQSR3FFPGP44XT3M3', 1, 'hook', 'default', 2, 'job.cancelled', 'exhausted', NULL, 1, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0HYZMGEAEWP11CKRQ', 1, 'hook', 'default', 3, 'session.finished', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0HYZMGEAEWP11CKRS', 1, 'hook', 'default', 4, 'job.created', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0HYZMGEAEWP11CKRT', 1, 'hook', 'default', 5, 'job.cancelled', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS65', 1, 'hook', 'default', 6, 'session.finished', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS67', 2, 'gone', 'films', 7, 'job.created', 'cancelled', NULL, 1, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS68', 2, 'gone', 'films', 8, 'job.cancelled', 'cancelled', NULL, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6A', 1, 'hook', 'default', 10, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6B', 1, 'hook', 'default', 11, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6D', 1, 'hook', 'default', 12, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6E', 1, 'hook', 'default', 13, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6G', 1, 'hook', 'default', 14, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6H', 1, 'hook', 'default', 15, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6J', 1, 'hook', 'default', 16, 'job.succeeded', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6M', 1, 'hook', 'default', 17, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6N', 1, 'hook', 'default', 18, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6P', 1, 'hook', 'default', 19, 'job.failed', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6R', 1, 'hook', 'default', 20, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6S', 1, 'hook', 'default', 21, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6T', 1, 'hook', 'default', 22, 'job.paused', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6W', 1, 'hook', 'default', 23, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6X', 1, 'hook', 'default', 24, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS6Y', 1, 'hook', 'default', 25, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS70', 1, 'hook', 'default', 26, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS71', 1, 'hook', 'default', 27, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS72', 1, 'hook', 'default', 28, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS74', 1, 'hook', 'default', 29, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS75', 1, 'hook', 'default', 30, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS76', 1, 'hook', 'default', 31, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS78', 1, 'hook', 'default', 32, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS79', 1, 'hook', 'default', 33, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS7A', 1, 'hook', 'default', 34, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS7C', 1, 'hook', 'default', 35, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS7E', 1, 'hook', 'default', 36, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook", "exchange") VALUES ('dlv_01DJN7K8PGQSR3FFPGP44XT3M2', 1, 1566228198000, 204, NULL, 0.1, 'answer', 1, NULL);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook", "exchange") VALUES ('dlv_01DJN7K8PGQSR3FFPGP44XT3M3', 1, 1566228198000, 500, NULL, 0.1, 'answer', 1, NULL);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook", "exchange") VALUES ('dlv_01DJN7KCKG4T499QCNBMX2XS67', 1, 1566228198000, 410, NULL, 0.1, 'answer', 2, NULL);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('default', 2, 2, 4, 1, 1, 1, 2, 3, 3, 7, 33, 63);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('films', 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0);
INSERT INTO service_counts ("id", "parts", "part_bytes", "deliveries_pending", "deliveries_acknowledged", "deliveries_exhausted", "deliveries_cancelled", "finishes_unacknowledged") VALUES (1, 7, 35, 31, 1, 1, 2, 1);
INSERT INTO history ("identity", "commits", "began_at", "last_id") VALUES ('68d86902ec3c83d43291', 48, 1795876243409, NULL);
INSERT INTO sealing ("id", "step", "key_check") VALUES (1, 'done', 'sealed:1:c0884d3cacdf608e:l/PAYY/DGwqI54njQqOAuN/mDZrfaZ686KP+AYiS9ixuBQ==');
INSERT INTO clock ("id", "time", "uptime", "boot", "last_event") VALUES (1, 1566228194000, 1000000, 'boot', 0);
INSERT INTO tokens ("id", "digest", "former_digest", "former_until", "name", "scope", "sessions", "quotas", "created_at", "expires_at", "last_used_at") VALUES ('tok_01DJN7KCKG4T499QCNBMX2XS7F', X'0707070707070707070707070707070707070707070707070707070707070707', NULL, NULL, 'films', 'jobs', '["films"]', '{}', 1566228198000, NULL, NULL);
INSERT INTO audit ("id", "time", "caller", "name", "address", "action", "target", "outcome", "reason", "count", "change") VALUES (1, 1566228198000, NULL, NULL, '127.0.0.1', 'token.create', 'tok_01DJN7KCKG4T499QCNBMX2XS7F', 'done', NULL, 1, NULL);
INSERT INTO idempotency_keys ("caller", "route", "key", "fingerprint", "location", "answer", "created_at") VALUES ('tok_01DJN7KCKG4T499QCNBMX2XS7F', 'POST /v1/jobs', 'k', X'62', '/v1/jobs/job_01DJN7KCKG4T499QCNBMX2XS7G', X'0A7365616C65643A313A633038383464336361636466363038653A35776249302B663232386278374A41564B76486F5156446E707774786C7268444B546874483447700A', 1566228198000);
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
