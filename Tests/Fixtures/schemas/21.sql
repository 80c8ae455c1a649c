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
    finished_at INTEGER, is_awaited INTEGER NOT NULL DEFAULT 1 CHECK (is_awaited IN (0, 1)), is_reported INTEGER NOT NULL DEFAULT 0 CHECK (is_reported IN (0, 1)),
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
    gid TEXT, node INTEGER, admissions INTEGER NOT NULL DEFAULT 0,
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
    digests TEXT,
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
    reach TEXT NOT NULL DEFAULT 'any' CHECK (reach IN ('any', 'public')),
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
    webhook INTEGER NOT NULL DEFAULT 0,
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
INSERT INTO grdb_migrations ("identifier") VALUES ('18: places in the queue');
INSERT INTO grdb_migrations ("identifier") VALUES ('19: nodes');
INSERT INTO grdb_migrations ("identifier") VALUES ('20: held jobs, expected acknowledgements');
INSERT INTO grdb_migrations ("identifier") VALUES ('21: names of indexes');
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing", "revision", "has_consumer", "expects_acknowledgement") VALUES ('default', '{}', 3, 1795711220892, 0, 0, 0, 1, 1);
INSERT INTO sessions ("id", "configuration", "acknowledged_through", "created_at", "waits_for_help", "is_finishing", "revision", "has_consumer", "expects_acknowledgement") VALUES ('films', '{"finishDelaySeconds":5,"headers":[{"name":"Authorization","value":"[secret]"}],"lost":["headers","proxy"],"maxConcurrentJobs":2,"metadata":"{}","proxy":{"host":"proxy","port":3128,"scheme":"http"},"timeouts":{},"tls":{"pinnedPublicKeys":{},"verify":true}}
sealed:1:c0884d3cacdf608e:RISVxqCkcfkuecTG8eIasZhiRMWgJjna2dNngl1CfDMI2cdnDuspfulEekwnZYJ1aBk9i6VFo+MFKis6/lxlE4wpRYQv/mkGJ4V4GRIZlBXCRe3K3Oc4FSTfoGeGHOVjKOxEYkqPRxLxLhHIldEu5fWjWzo0P6LVO6E9HIyduB/x3iM6LV1SHXOCGac1iNlzme7QIF8D7chKitlxJP6+LkVizImbP0wmwtjHYXjE/9jVAO1kKaSFwbNIiVDNDxRftEOfJMWi49bNW57/ZDy1Af/IuSKF5l2kSt0d96Rmxr5cCb8q/kMXeUj50lR7tTIfr5pyEc44E7/enwrOJeyniQj7klj+3DyUQdmd+yzHolo/zR2jAT/Uz8k4cQZ/Pno8lf3vjVUUifNt7tkkux+5jDIwNEiDx4AeAsOFd7qWDw==
', 0, 1566228194000, 0, 0, 1566228194000, 1, 1);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported") VALUES ('default', 1, 'acknowledged', 0, 0, 0, 1, NULL, 1, 3, 1566228196000, 1, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported") VALUES ('default', 2, 'finished', 0, 0, 0, 1, NULL, 4, 6, 1566228198000, 1, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported") VALUES ('films', 1, 'open', 1, 0, 0, 1, NULL, 7, NULL, NULL, 1, 0);
INSERT INTO batches ("session", "number", "state", "outstanding", "succeeded", "failed", "cancelled", "due_at", "first_event", "finish_event", "finished_at", "is_awaited", "is_reported") VALUES ('default', 3, 'open', 9, 1, 1, 0, NULL, 10, NULL, NULL, 1, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7K8PG2E3VG171WF360N2K', 'default', 1, 'cancelled', 2, '{"url":"https://host/batch-1?...","tags":["batch-1"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:dF/kciTDCjEGF9/coqt2KaxrpoIuUeZwWv4NHGy5kZ4W5hKo03b6DiK4cxBvVm3G/dgjBe9vfD/pDSKKEhKJoMle92DBvqAIEgbpjGH5X8jofe8r3X37zng4z7vm2tlEp6543+I=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228194000, NULL, 1566228194000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KAN0FV93NDP5SYE3ZFMJ', 'default', 2, 'cancelled', 2, '{"url":"https://host/batch-2?...","tags":["batch-2"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:i+KR98p/7tJByqUKN1m3AK2MLDu2RH2yT5DNUVHDilm1PNunO+OQK/Y7sKrD3JMN6jHZGNcq9wwjJspAsjc0tr5N+0vBKqxH584o03ad3KdndlJ0M1k7eCxEMiHfO7Iumjk10Q8=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228196000, NULL, 1566228196000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFQJ', 'films', 1, 'cancelled', 2, '{"url":"https://host/due?...","tags":["due"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:9rbyc3vh5pLnGeRmNEDSfXqUacXGsab/uXptHOkX+hfD5IAkP/1BUrkiJ1j/Yri0pM1tXh67sClIcZ6dExbkDYeqOPcH4ot4vdg1z89M6TRO8uOv1TX0QeJWASSX
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFQN', 'default', 3, 'running', 2, '{"url":"https://host/attempting?...","tags":["attempting"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:AzZy6QPSMaRXmCc4OkCJzKL254ul3zz+Ph/HhuDF29DJJLF79vtVnt31UrJoPskvAgoACATMY6WHHtt/1hryu8aD231+VTY2uLhyN7n3HPatIQmHvpws/y8d+mdar6N7vBo4PJLOPmF54vc=
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFQR', 'default', 3, 'running', 3, '{"url":"https://host/promoting?...","tags":["promoting"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:aT69iOGR5AIJ9RQzknh+Y5PHSXNcbHRY6gUTwcTWhPQsHpadC8UOczRduSBHe0GUDp5Lt6R2QOv8PZnlDPqP4Rln9SehZd1gfiTlcg+GeWGh3sZZx4kSxdmZk6kg17HMTDMn59R9GK4L
', 1, 'host:443', NULL, NULL, NULL, '{"part":{"text":"part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFQR"},"inode":1,"conflict":"rename","file":{"path":"job_01DJN7KCKGCKBBNZYFY9H1ZFQR","size":3},"receipt":{"finalURL":"https://host/","redirects":[],"status":200,"networkProtocol":"HTTP/1.1","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFQV', 'default', 3, 'succeeded', 4, '{"url":"https://host/succeeded?...","tags":["succeeded"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:t8vxk7CfXFi56f1xsLFEJXTFbgH8Qi510+NPT1rrDFmKmoeEXNBUO8leOqJcbvdUVc+1v6vZT4/Kt3CmXEqJiSUJoOj6OPd4gqlq8jq9o5vNQyGkIASRXPKBkYiYl6tYbWOfok78eqmg
', 1, 'host:443', NULL, NULL, NULL, NULL, '{"file":{"path":"job_01DJN7KCKGCKBBNZYFY9H1ZFQV","size":3},"receipt":{"finalURL":"https://host/","redirects":[],"status":200,"networkProtocol":"HTTP/1.1","lengthVerified":true,"attempts":1,"timings":{"connect":0,"firstByte":0,"transfer":0,"total":0}}}', 3, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', 'default', 3, 'failed', 3, '{"url":"https://host/failed?...","tags":["failed"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:a1z490TDMBVRae6h8YVXOsQFq8YIGKeLAFa6mEmSKiuUGLQ65p44ptQyFyF4/SYlZF9P/YLkZP8nKsBbTkZ1NMRgTl78r1kKdQhWjE1SB2z6s/LFW/s2OAzZ1t6/mb2v4lOT
', 1, 'host:443', NULL, NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, 1566228198000, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFR3', 'default', 3, 'paused', 3, '{"url":"https://host/paused?...","tags":["paused"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:WMo60m6Ke06fmaKP4Jj5EUiJcDZFxsTDm38whePlEXKhs5SSL0GMAD1se6f5T+O4SUlpx5qHGdI3d6DG14q/bUeHboPS3HUnFjjBEBsjEGVsti+iZ58L63Js0JnAZtKfzsV7
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, NULL, NULL, 604800000, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFR7', 'default', 3, 'waiting', 3, '{"url":"https://host/retry?...","tags":["retry"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:EYqqw/932y/rGlUxolgh7yWHRgXsbVorlbPZV+6S0hBOZsSe/7T3klc9v6na6tXFEMD0Bv66jwOABxW7ijcoL17lTuKEGwkKzrD/Io/eemPHIHKCiFr2uxySX928AqXy3w==
', 1, 'host:443', 'retry', 1566228248000, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFRB', 'default', 3, 'waiting', 3, '{"url":"https://host/space?...","tags":["space"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:GLkCmLcyDvY1rQCD/5C5DyIwUyEQBm/r6rB/F2npEQgYviGft0bZIwktlsYaH40WxMbs2NmzlpJyNzFJsFpLbysTwBdD4sLoP/0W2KWcydwv6HLGZXTXhs68GvIb2pFiPQ==
', 1, 'host:443', 'space', 1566228228000, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFRF', 'default', 3, 'waiting', 3, '{"url":"https://host/credentials?...","tags":["credentials"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:/dOOUPWVXAmdCtxuUJQtPC1ISmTNPFFk5m8pTcXwkBzBc4stmRlKxYHyi/0eYekUAM35Kh1wKc4FLTiEipaUn/2ZHJnz9IWmDKUKpP0+LRiArY1OGZwoabtEcDG4PjqtmwvxAemHy/OKf8HfqQ==
', 1, 'host:443', 'credentials', NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFRK', 'default', 3, 'waiting', 3, '{"url":"https://host/url?...","tags":["url"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:FM9bboRAnbhbNa0jIZaNPYMj8Cs2hok+CaYfUi81s25Sbk4GDN6TokGUuAf/fqx7lWjNZ/xkLuhismWMlbOlIcKb3pTAdHqCqV2dLxA+RYd2eegMTNBhIqZriJA2
', 1, 'host:443', 'url', NULL, '{"at":587920998,"attempts":1,"code":"connection_lost","message":"gone"}', NULL, NULL, NULL, 1, 1, NULL, NULL, NULL, 1566228198000, 1566228198000, NULL, 0, NULL, 1566832998000, 1566832998000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFRQ', 'default', 3, 'queued', 1, '{"url":"https://host/queued?...","tags":["queued"],"lost":["credentials","url"]}
sealed:1:c0884d3cacdf608e:KCFWw7QXNJR1sD23mtnmus82acH+mW3o3aunYfCLEWc2ExY8742sjTDCobj/iPhytai+wSvVqDzcGMKfETgZSEpcbHHEvOFSO5+6s5gQ4zg1vdy2vpeIbVy+J28f/S58vlTRUZX4qsah1kWwP9iNA2KhMSiUytc4cXe6i68l6rUaxSeExQKwQW4k5Coi1gO5IHCUsQdp
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFRS', 'default', 3, 'queued', 1, '{"url":"https://host/held?...","notBefore":587921498,"tags":["held"],"lost":["url"]}
sealed:1:c0884d3cacdf608e:zCd7RfMfAjuqhhIlJXocKuwrUzUdfGgHHhxNQYKGvT81HxTQDItMKRUdl1FVkeXY7K57NzhDnM5bV3Kxsxck8OtsQVlKu1GwNYt2fHp4GifrcfK4IMR9k5LE29aYC0drIKGqcWBHUEsqiHJfCPcFlbdVbRmX
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, 1566228698000, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO jobs ("id", "session", "batch", "state", "revision", "spec", "priority", "host", "reason", "retry_at", "failure", "promotion", "finish", "file_size", "attempts", "failures_in_a_row", "resume_decision", "resume_offset", "resume_why", "created_at", "started_at", "finished_at", "mirror", "held_until", "fails_at", "resource_until", "resource_left", "part_lost", "disproved", "sync_failed", "deadline", "token", "trace", "queue_rank", "gid", "node", "admissions") VALUES ('job_01DJN7KCKGCKBBNZYFY9H1ZFRW', 'films', 1, 'queued', 1, '{"url":"https://host/claimed?...","lost":["url"]}
sealed:1:c0884d3cacdf608e:5iZ+ILs8BSWeNOLzlwHunBRXf3pBbekvUUejly157kdIBBSDxzuCqtN8cAlt9t4GWFBLSRRtE4lO4tA0cQKkQkg2qtufnBURXdpnrjaQffcMvw==
', 1, 'host:443', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 1566228198000, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO job_tags ("tag", "job", "session") VALUES ('attempting', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQN', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('batch-1', 'job_01DJN7K8PG2E3VG171WF360N2K', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('batch-2', 'job_01DJN7KAN0FV93NDP5SYE3ZFMJ', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('credentials', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRF', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('failed', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('held', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRS', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('paused', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR3', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('promoting', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQR', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('queued', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRQ', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('retry', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR7', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('space', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRB', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('succeeded', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQV', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('url', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRK', 'default');
INSERT INTO job_tags ("tag", "job", "session") VALUES ('due', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQJ', 'films');
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFQN', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQN', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFR3', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR3', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, NULL, 604800000, NULL, NULL, NULL, NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFR7', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR7', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFRB', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRB', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFRF', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRF', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO parts ("id", "job", "url", "etag", "last_modified", "last_modified_is_strong", "is_encoded", "size", "bytes_durable", "lifetime", "expires_at", "lifetime_left", "content_type", "content_disposition", "ranges", "digests") VALUES ('part_of_job_01DJN7KCKGCKBBNZYFY9H1ZFRK', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRK', 'https://host/0', '"v1"', NULL, 0, 0, 10, 5, 604800000, 1566832998000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (1, 'job.created', 1566228194000, 'default', 'job_01DJN7K8PG2E3VG171WF360N2K', '{"url":"https://host/batch-1?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (2, 'job.cancelled', 1566228194000, 'default', 'job_01DJN7K8PG2E3VG171WF360N2K', '{"snapshot":{"id":"job_01DJN7K8PG2E3VG171WF360N2K","session":"default","batch":1,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/batch-1?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"created_at":"2019-08-19T15:23:14.000Z","started_at":null,"finished_at":"2019-08-19T15:23:14.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["batch-1"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (3, 'session.finished', 1566228196000, 'default', NULL, '{"batch":1,"outcome":"cancelled","counts":{"succeeded":0,"failed":0,"cancelled":1},"first_event":1,"last_event":2,"failures":[]}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (4, 'job.created', 1566228196000, 'default', 'job_01DJN7KAN0FV93NDP5SYE3ZFMJ', '{"url":"https://host/batch-2?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (5, 'job.cancelled', 1566228196000, 'default', 'job_01DJN7KAN0FV93NDP5SYE3ZFMJ', '{"snapshot":{"id":"job_01DJN7KAN0FV93NDP5SYE3ZFMJ","session":"default","batch":2,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/batch-2?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"created_at":"2019-08-19T15:23:16.000Z","started_at":null,"finished_at":"2019-08-19T15:23:16.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["batch-2"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (6, 'session.finished', 1566228198000, 'default', NULL, '{"batch":2,"outcome":"cancelled","counts":{"succeeded":0,"failed":0,"cancelled":1},"first_event":4,"last_event":5,"failures":[]}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (7, 'job.created', 1566228198000, 'films', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQJ', '{"url":"https://host/due?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (8, 'job.cancelled', 1566228198000, 'films', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQJ', '{"snapshot":{"id":"job_01DJN7KCKGCKBBNZYFY9H1ZFQJ","session":"films","batch":1,"state":"cancelled","phase":null,"reason":null,"revision":2,"url":"https://host/due?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":null,"finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":0,"bytes_durable":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":0,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":null,"receipt":null,"tags":["due"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (9, 'webhook.disabled', 1566228198000, 'films', NULL, '{"webhook":"gone","reason":"The endpoint answered 410: it is gone."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (10, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQN', '{"url":"https://host/attempting?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (11, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQN', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (12, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQR', '{"url":"https://host/promoting?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (13, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQR', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (14, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQV', '{"url":"https://host/succeeded?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (15, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQV', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (16, 'job.succeeded', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQV', '{"snapshot":{"id":"job_01DJN7KCKGCKBBNZYFY9H1ZFQV","session":"default","batch":3,"state":"succeeded","phase":null,"reason":null,"revision":4,"url":"https://host/succeeded?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":"2019-08-19T15:23:18.000Z","finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":3,"bytes_durable":3,"bytes_expected":3,"fraction":1,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":1,"retry_at":null,"challenge":null,"cause":null,"failure":null,"file":{"path":"job_01DJN7KCKGCKBBNZYFY9H1ZFQV","size":3,"sha256":null,"content_type":null},"receipt":{"final_url":"https://host/","redirects":[],"status":200,"etag":null,"last_modified":null,"remote_address":null,"protocol":"HTTP/1.1","length_verified":true,"coding":null,"attempts":1,"timings":{"connect_seconds":0,"first_byte_seconds":0,"transfer_seconds":0,"total_seconds":0}},"tags":["succeeded"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (17, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', '{"url":"https://host/failed?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (18, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (19, 'job.failed', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFQZ', '{"snapshot":{"id":"job_01DJN7KCKGCKBBNZYFY9H1ZFQZ","session":"default","batch":3,"state":"failed","phase":null,"reason":null,"revision":3,"url":"https://host/failed?...","destination":{"directory":null,"filename":null,"on_conflict":null,"create_directories":true},"priority":"normal","queue_rank":null,"created_at":"2019-08-19T15:23:18.000Z","started_at":"2019-08-19T15:23:18.000Z","finished_at":"2019-08-19T15:23:18.000Z","not_before":null,"deadline":null,"progress":{"bytes_received":5,"bytes_durable":5,"bytes_expected":10,"fraction":0.5,"bytes_per_second":null,"eta_seconds":null},"resume":null,"attempts":1,"retry_at":null,"challenge":null,"cause":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"},"file":null,"receipt":null,"tags":["failed"],"metadata":{},"traceparent":null}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (20, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR3', '{"url":"https://host/paused?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (21, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR3', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (22, 'job.paused', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR3', '{"bytes_durable":5}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (23, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR7', '{"url":"https://host/retry?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (24, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR7', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (25, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFR7', '{"reason":"retry","retry_at":"2019-08-19T15:24:08.000Z","challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (26, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRB', '{"url":"https://host/space?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (27, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRB', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (28, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRB', '{"reason":"space","retry_at":"2019-08-19T15:23:48.000Z","challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (29, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRF', '{"url":"https://host/credentials?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (30, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRF', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (31, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRF', '{"reason":"credentials","retry_at":null,"challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (32, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRK', '{"url":"https://host/url?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (33, 'job.started', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRK', '{"attempt":1}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (34, 'job.waiting', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRK', '{"reason":"url","retry_at":null,"challenge":null,"failure":{"code":"connection_lost","message":"gone","status":null,"attempts":1,"at":"2019-08-19T15:23:18.000Z"}}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (35, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRQ', '{"url":"https://host/queued?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (36, 'job.created', 1566228198000, 'default', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRS', '{"url":"https://host/held?..."}');
INSERT INTO events ("id", "type", "time", "session", "job", "data") VALUES (37, 'job.created', 1566228198000, 'films', 'job_01DJN7KCKGCKBBNZYFY9H1ZFRW', '{"url":"https://host/claimed?..."}');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls", "reach") VALUES (1, 'default', 'hook', 'https://c/hook?...
sealed:1:c0884d3cacdf608e:uPateIhDUFdWFZKyj4pxC/C6aulxAKGgcQ2iY24adTJK6G32e3jtI9w1FlOTc+Ner1E6wPwWC6TI/sM=
', 'session.* job.*', '
sealed:1:c0884d3cacdf608e:5nysdUicZ0ceRTzgKuB9Keam9gTSN211qii0KDB2atiXbJ7HqVWW5t9UrCVjIhUB2y9J/CPWIWHSy8XMjh5CxYJYbECAvysaepTU3EgW
', 'enabled', NULL, 1566228194000, 1566228198000, '[]', '[{"name":"X-Tenant","value":"[secret]"}]
sealed:1:c0884d3cacdf608e:nqCQj4tzkMymW6kTzBNENlvTJpIXMzrer0DMK8KbmNHaL9YToN0S2jmjTQeYPQH+pLeUCZXbeoAFt//fGXfCZOg/VaPzpImYL5U=
', '{"pinnedPublicKeys":{},"verify":true}', 'any');
INSERT INTO webhooks ("key", "session", "name", "url", "events", "secret", "state", "disabled_reason", "created_at", "failing_since", "former_secrets", "headers", "tls", "reach") VALUES (2, 'films', 'gone', 'https://c/gone?...
sealed:1:c0884d3cacdf608e:9Az+PvTMbPnxn4m0jsKSj0P5f9TE7V0W2xt7BIX0qIMzvyxjciwal4E1NPzlQyWxb1Jajf3WQivvD2E=
', 'session.* job.*', '
sealed:1:c0884d3cacdf608e:JAvBw4TS2BbJ67CTSF2+vcx3NV6mlY1zdRN5od/8DfHHA3KXfKbYchR2A9taAk21WK7ej4CfTu93hmAWDRvJZG5ZM5jxiij/poTe6tGo
', 'disabled', 'The endpoint answered 410: it is gone.', 1566228194000, NULL, '[]', '[{"name":"X-Tenant","value":"[secret]"}]
sealed:1:c0884d3cacdf608e:NM50fJTyBNlLGXf/OnaDCnYA15ea+wYK2oGVAsmGQKYXquWvzDZIFE1oYUbsaK9zkcl3wYgnEQDy82hWlTtI5pncdSfvOXZ0lPo=
', '{"pinnedPublicKeys":{},"verify":true}', 'any');
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7K8PG2E3VG171WF360N2M', 1, 'hook', 'default', 1, 'job.created', 'acknowledged', NULL, 1, 0, NULL, 1, 1);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7K8PG2E3VG171WF360N2N', 1, 'hook', 'default', 2, 'job.cancelled', 'exhausted', NULL, 1, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0FV93NDP5SYE3ZFMH', 1, 'hook', 'default', 3, 'session.finished', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0FV93NDP5SYE3ZFMK', 1, 'hook', 'default', 4, 'job.created', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KAN0FV93NDP5SYE3ZFMM', 1, 'hook', 'default', 5, 'job.cancelled', 'pending', 1566228196000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQH', 1, 'hook', 'default', 6, 'session.finished', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQK', 2, 'gone', 'films', 7, 'job.created', 'cancelled', NULL, 1, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQM', 2, 'gone', 'films', 8, 'job.cancelled', 'cancelled', NULL, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQP', 1, 'hook', 'default', 10, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQQ', 1, 'hook', 'default', 11, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQS', 1, 'hook', 'default', 12, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQT', 1, 'hook', 'default', 13, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQW', 1, 'hook', 'default', 14, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQX', 1, 'hook', 'default', 15, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQY', 1, 'hook', 'default', 16, 'job.succeeded', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR0', 1, 'hook', 'default', 17, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR1', 1, 'hook', 'default', 18, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR2', 1, 'hook', 'default', 19, 'job.failed', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR4', 1, 'hook', 'default', 20, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR5', 1, 'hook', 'default', 21, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR6', 1, 'hook', 'default', 22, 'job.paused', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR8', 1, 'hook', 'default', 23, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFR9', 1, 'hook', 'default', 24, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRA', 1, 'hook', 'default', 25, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRC', 1, 'hook', 'default', 26, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRD', 1, 'hook', 'default', 27, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRE', 1, 'hook', 'default', 28, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRG', 1, 'hook', 'default', 29, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRH', 1, 'hook', 'default', 30, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRJ', 1, 'hook', 'default', 31, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRM', 1, 'hook', 'default', 32, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRN', 1, 'hook', 'default', 33, 'job.started', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRP', 1, 'hook', 'default', 34, 'job.waiting', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRR', 1, 'hook', 'default', 35, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO deliveries ("id", "webhook", "name", "session", "event", "type", "state", "next_attempt_at", "tries", "not_before", "scheduled_at", "requests", "is_accepted") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFRT', 1, 'hook', 'default', 36, 'job.created', 'pending', 1566228198000, 0, 0, NULL, 1, 0);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook") VALUES ('dlv_01DJN7K8PG2E3VG171WF360N2M', 1, 1566228198000, 204, NULL, 0.1, 'answer', 1);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook") VALUES ('dlv_01DJN7K8PG2E3VG171WF360N2N', 1, 1566228198000, 500, NULL, 0.1, 'answer', 1);
INSERT INTO delivery_attempts ("delivery", "number", "at", "status", "error", "latency_seconds", "response", "webhook") VALUES ('dlv_01DJN7KCKGCKBBNZYFY9H1ZFQK', 1, 1566228198000, 410, NULL, 0.1, 'answer', 2);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('default', 2, 2, 4, 1, 1, 1, 2, 3, 3, 7, 33, 63);
INSERT INTO session_counts ("session", "queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "batch", "unsized", "sized", "received", "expected") VALUES ('films', 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0);
INSERT INTO service_counts ("id", "parts", "part_bytes", "deliveries_pending", "deliveries_acknowledged", "deliveries_exhausted", "deliveries_cancelled", "finishes_unacknowledged") VALUES (1, 7, 35, 31, 1, 1, 2, 1);
INSERT INTO history ("identity", "commits", "began_at", "last_id") VALUES ('fc0dd308e2e5244ea50f', 47, 1795711220892, NULL);
INSERT INTO sealing ("id", "step", "key_check") VALUES (1, 'done', 'sealed:1:c0884d3cacdf608e:An7joxSk3CuYe0VL64Me6giDyphwZBF+7m9BOMZcW2c49A==');
INSERT INTO clock ("id", "time", "uptime", "boot", "last_event") VALUES (1, 1566228194000, 1000000, 'boot', 0);
INSERT INTO tokens ("id", "digest", "former_digest", "former_until", "name", "scope", "sessions", "quotas", "created_at", "expires_at", "last_used_at") VALUES ('tok_01DJN7KCKGCKBBNZYFY9H1ZFRV', X'0707070707070707070707070707070707070707070707070707070707070707', NULL, NULL, 'films', 'jobs', '["films"]', '{}', 1566228198000, NULL, NULL);
INSERT INTO audit ("id", "time", "caller", "name", "address", "action", "target", "outcome", "reason", "count", "change") VALUES (1, 1566228198000, NULL, NULL, '127.0.0.1', 'token.create', 'tok_01DJN7KCKGCKBBNZYFY9H1ZFRV', 'done', NULL, 1, NULL);
INSERT INTO idempotency_keys ("caller", "route", "key", "fingerprint", "location", "answer", "created_at") VALUES ('tok_01DJN7KCKGCKBBNZYFY9H1ZFRV', 'POST /v1/jobs', 'k', X'62', '/v1/jobs/job_01DJN7KCKGCKBBNZYFY9H1ZFRW', X'0A7365616C65643A313A633038383464336361636466363038653A7341643664736F7A57533042686D697568664E66734C385A57526F594E435032476F7435576E34310A', 1566228198000);
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
