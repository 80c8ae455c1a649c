-- first in the lane unmoved
SELECT id, host, id AS rank FROM jobs INDEXED BY jobs_queue_by_age
WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session
ORDER BY id COLLATE BINARY LIMIT 32;

-- first in the lane unmoved without a token
SELECT id, host, id AS rank FROM jobs INDEXED BY jobs_queue_by_age
WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session AND (token IS NULL OR token NOT IN (:token0))
ORDER BY id COLLATE BINARY LIMIT 32;

-- first of each host in the lane unmoved
WITH RECURSIVE hosts (host) AS (
    SELECT (SELECT host FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session ORDER BY host COLLATE BINARY LIMIT 1)
    UNION ALL
    SELECT (SELECT host FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session AND host COLLATE BINARY > hosts.host
        ORDER BY host COLLATE BINARY LIMIT 1)
    FROM hosts WHERE host IS NOT NULL
)
SELECT host, id, firsts.id AS rank FROM (
    SELECT host, (SELECT id FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session
        AND jobs.host COLLATE BINARY >= hosts.host AND jobs.host COLLATE BINARY <= hosts.host
        
        ORDER BY jobs.host COLLATE BINARY, id COLLATE BINARY LIMIT 1) AS id
    FROM hosts WHERE host IS NOT NULL) AS firsts
WHERE id IS NOT NULL ORDER BY rank;

-- counts in the lane unmoved
SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs INDEXED BY jobs_queue_by_age WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session
    AND id COLLATE BINARY >= :from0 AND id COLLATE BINARY < :to0
    ORDER BY id COLLATE BINARY LIMIT 1000000) AS jobs_between) AS n;

-- ranks in the lane unmoved
WITH RECURSIVE samples (sampled) AS (
    SELECT (SELECT id FROM jobs INDEXED BY jobs_queue_by_age WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session ORDER BY id COLLATE BINARY LIMIT 1 OFFSET 999)
    UNION ALL
    SELECT (SELECT id FROM jobs INDEXED BY jobs_queue_by_age WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY = :session AND id COLLATE BINARY > samples.sampled ORDER BY id COLLATE BINARY LIMIT 1 OFFSET 999) FROM samples WHERE sampled IS NOT NULL
)
SELECT sampled FROM samples WHERE sampled IS NOT NULL;

-- first in the lane moved
SELECT id, host, queue_rank AS rank FROM jobs INDEXED BY jobs_moved_by_rank
WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session
ORDER BY queue_rank COLLATE BINARY LIMIT 32;

-- first in the lane moved without a token
SELECT id, host, queue_rank AS rank FROM jobs INDEXED BY jobs_moved_by_rank
WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session AND (token IS NULL OR token NOT IN (:token0))
ORDER BY queue_rank COLLATE BINARY LIMIT 32;

-- first of each host in the lane moved
WITH RECURSIVE hosts (host) AS (
    SELECT (SELECT host FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session ORDER BY host COLLATE BINARY LIMIT 1)
    UNION ALL
    SELECT (SELECT host FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session AND host COLLATE BINARY > hosts.host
        ORDER BY host COLLATE BINARY LIMIT 1)
    FROM hosts WHERE host IS NOT NULL
)
SELECT host, id, (SELECT queue_rank FROM jobs WHERE jobs.id = firsts.id) AS rank FROM (
    SELECT host, (SELECT id FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session
        AND jobs.host COLLATE BINARY >= hosts.host AND jobs.host COLLATE BINARY <= hosts.host
        
        ORDER BY jobs.host COLLATE BINARY, queue_rank COLLATE BINARY LIMIT 1) AS id
    FROM hosts WHERE host IS NOT NULL) AS firsts
WHERE id IS NOT NULL ORDER BY rank;

-- counts in the lane moved
SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs INDEXED BY jobs_moved_by_rank WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session
    AND queue_rank COLLATE BINARY >= :from0 AND queue_rank COLLATE BINARY < :to0
    ORDER BY queue_rank COLLATE BINARY LIMIT 1000000) AS jobs_between) AS n;

-- ranks in the lane moved
WITH RECURSIVE samples (sampled) AS (
    SELECT (SELECT queue_rank FROM jobs INDEXED BY jobs_moved_by_rank WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session ORDER BY queue_rank COLLATE BINARY LIMIT 1 OFFSET 999)
    UNION ALL
    SELECT (SELECT queue_rank FROM jobs INDEXED BY jobs_moved_by_rank WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY = :session AND queue_rank COLLATE BINARY > samples.sampled ORDER BY queue_rank COLLATE BINARY LIMIT 1 OFFSET 999) FROM samples WHERE sampled IS NOT NULL
)
SELECT sampled FROM samples WHERE sampled IS NOT NULL;

-- sessions that wait
WITH RECURSIVE unmoved_names (name) AS (
    SELECT (SELECT session FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority
        ORDER BY session COLLATE BINARY LIMIT 1)
    UNION ALL
    SELECT (SELECT session FROM jobs
        WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL AND priority = :priority AND session COLLATE BINARY > name
        ORDER BY session COLLATE BINARY LIMIT 1)
    FROM unmoved_names WHERE name IS NOT NULL
), moved_names (name) AS (
    SELECT (SELECT session FROM jobs WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority
        ORDER BY session COLLATE BINARY LIMIT 1)
    UNION ALL
    SELECT (SELECT session FROM jobs
        WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL AND priority = :priority AND session COLLATE BINARY > name
        ORDER BY session COLLATE BINARY LIMIT 1)
    FROM moved_names WHERE name IS NOT NULL
)
SELECT name, 0 AS moved FROM unmoved_names WHERE name IS NOT NULL
UNION ALL SELECT name, 1 FROM moved_names WHERE name IS NOT NULL;

-- running
SELECT session, host, count(*) AS n FROM jobs WHERE state = 'running' GROUP BY session, host;

-- next wait
SELECT min(at) AS at FROM (
    SELECT (SELECT retry_at FROM jobs WHERE retry_at IS NOT NULL ORDER BY retry_at LIMIT 1) AS at
    UNION ALL SELECT (SELECT held_until FROM jobs WHERE held_until > ? ORDER BY held_until LIMIT 1)) AS moments;

-- ended waits
SELECT jobs.id, jobs.session, jobs.batch, jobs.state, jobs.revision, jobs.spec, jobs.reason, jobs.retry_at, jobs.failure, jobs.promotion, jobs.finish, jobs.attempts, jobs.failures_in_a_row, jobs.resume_decision, jobs.resume_offset, jobs.resume_why, jobs.created_at, jobs.started_at, jobs.finished_at, jobs.mirror, jobs.resource_until, jobs.resource_left, jobs.part_lost, jobs.disproved, jobs.sync_failed, jobs.token, jobs.trace, jobs.queue_rank, jobs.gid, jobs.node, jobs.admissions, jobs.times_held_off, jobs.stated_digests, jobs.wait_location, parts.id, parts.url, parts.etag, parts.last_modified, parts.last_modified_is_strong, parts.is_encoded, parts.size, parts.bytes_durable, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type, parts.content_disposition, parts.ranges, parts.digests, parts.etag_is_recent, parts.joined_by_evidence
FROM jobs LEFT JOIN parts ON parts.job = jobs.id
WHERE jobs.id IN (SELECT id FROM jobs WHERE retry_at <= :now ORDER BY retry_at LIMIT :limit)
ORDER BY jobs.retry_at;

-- release held jobs
UPDATE jobs SET held_until = NULL WHERE id IN (
    SELECT id FROM jobs WHERE held_until <= :now AND (held_until <= :surely OR created_at >= :jump)
    ORDER BY held_until LIMIT :limit);

-- end waits for storage
UPDATE jobs SET retry_at = :now WHERE id IN (
    SELECT id FROM jobs WHERE wait_location = :location AND retry_at > :now AND reason = 'storage'
    ORDER BY retry_at LIMIT :limit)
RETURNING id;

-- end refused waits
UPDATE jobs SET retry_at = :now WHERE id IN (
    SELECT id FROM jobs WHERE retry_at > :now AND host = :host AND reason = 'retry' AND times_held_off > 0
    ORDER BY retry_at LIMIT 500)
RETURNING id;

-- overdue jobs
SELECT jobs.id, jobs.session, jobs.batch, jobs.state, jobs.revision, jobs.spec, jobs.reason, jobs.retry_at, jobs.failure, jobs.promotion, jobs.finish, jobs.attempts, jobs.failures_in_a_row, jobs.resume_decision, jobs.resume_offset, jobs.resume_why, jobs.created_at, jobs.started_at, jobs.finished_at, jobs.mirror, jobs.resource_until, jobs.resource_left, jobs.part_lost, jobs.disproved, jobs.sync_failed, jobs.token, jobs.trace, jobs.queue_rank, jobs.gid, jobs.node, jobs.admissions, jobs.times_held_off, jobs.stated_digests, jobs.wait_location, parts.id, parts.url, parts.etag, parts.last_modified, parts.last_modified_is_strong, parts.is_encoded, parts.size, parts.bytes_durable, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type, parts.content_disposition, parts.ranges, parts.digests, parts.etag_is_recent, parts.joined_by_evidence
FROM jobs LEFT JOIN parts ON parts.job = jobs.id
WHERE fails_at <= :now
    AND (resource_until <= :now OR deadline <= :surely OR (deadline <= :now AND created_at >= :jump))
ORDER BY fails_at LIMIT :limit;

-- outstanding jobs
SELECT id FROM (SELECT id FROM jobs WHERE coalesce(session, '') = :session AND state = 'running' AND id > :after ORDER BY id LIMIT :limit) AS running
UNION ALL SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND state = 'queued' AND state <> 'running' AND id > :after ORDER BY id LIMIT :limit) AS queued
UNION ALL SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND state = 'waiting' AND state <> 'running' AND id > :after ORDER BY id LIMIT :limit) AS waiting
UNION ALL SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND state = 'paused' AND state <> 'running' AND id > :after ORDER BY id LIMIT :limit) AS paused
ORDER BY id LIMIT :limit;

-- first jobs
SELECT jobs.id, jobs.batch, jobs.state, jobs.file_size, parts.id AS part, parts.bytes_durable,
    parts.size AS part_size
FROM jobs LEFT JOIN parts ON parts.job = jobs.id WHERE jobs.session = ? ORDER BY jobs.id LIMIT ?;

-- webhooks with work
WITH RECURSIVE busy (key) AS (
    SELECT min(webhook) FROM deliveries WHERE state = 'pending'
    UNION ALL
    SELECT (SELECT min(webhook) FROM deliveries WHERE state = 'pending' AND webhook > busy.key)
    FROM busy WHERE busy.key IS NOT NULL
)
SELECT key, 1 AS is_leased,
    (SELECT min(next_attempt_at) FROM deliveries WHERE webhook = key AND state = 'pending'
        AND type <> 'session.finished' AND next_attempt_at <= ?1) AS due,
    (SELECT min(next_attempt_at) FROM deliveries WHERE webhook = key AND state = 'pending'
        AND type <> 'session.finished' AND next_attempt_at > ?1) AS later,
    (SELECT CASE WHEN type = 'session.finished' THEN next_attempt_at END FROM deliveries
        WHERE webhook = key AND state = 'pending' AND type <> 'webhook.test'
        ORDER BY event LIMIT 1) AS finish
FROM busy WHERE key IS NOT NULL;

-- due finish
SELECT first.delivery, first.tries, first.requests, (SELECT trace FROM jobs WHERE session = events.session ORDER BY id DESC LIMIT 1) AS trace, events.* FROM (
    SELECT id AS delivery, event, type, tries, requests, next_attempt_at FROM deliveries
    WHERE webhook = ? AND state = 'pending' AND type <> 'webhook.test' ORDER BY event LIMIT 1
) AS first CROSS JOIN events ON events.id = first.event
WHERE first.type = 'session.finished' AND first.next_attempt_at <= ?;

-- other due deliveries
SELECT deliveries.id AS delivery, deliveries.tries, deliveries.requests,
    CASE WHEN events.job IS NULL THEN (SELECT trace FROM jobs WHERE session = events.session ORDER BY id DESC LIMIT 1)
        ELSE (SELECT trace FROM jobs WHERE id = events.job) END AS trace, events.*
FROM deliveries CROSS JOIN events ON events.id = deliveries.event
WHERE deliveries.webhook = ? AND deliveries.state = 'pending' AND deliveries.type <> 'session.finished'
    AND deliveries.next_attempt_at <= ?
ORDER BY deliveries.next_attempt_at, deliveries.event LIMIT ?;

-- expedite
UPDATE deliveries SET scheduled_at = coalesce(scheduled_at, next_attempt_at),
    next_attempt_at = max(?2, not_before)
WHERE webhook = ?1 AND state = 'pending' AND tries > 0 AND next_attempt_at > ?2 AND next_attempt_at > not_before;

-- first pending before
SELECT id FROM deliveries WHERE webhook = ? AND state = 'pending' AND type <> 'webhook.test' AND event < ?
ORDER BY event LIMIT 1;

-- latest attempts
SELECT status, latency_seconds FROM delivery_attempts WHERE webhook = ? AND at > ? ORDER BY at DESC LIMIT ?;

-- pending deliveries
SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE webhook = ? AND state = 'pending' LIMIT ?) AS pending;

-- oldest pending delivery
SELECT time FROM events
WHERE id = (SELECT event FROM deliveries WHERE webhook = ? AND state = 'pending' ORDER BY event LIMIT 1);

-- oldest queued job
SELECT created_at FROM jobs WHERE id = (
    SELECT min(oldest) FROM (
        SELECT (SELECT id FROM jobs INDEXED BY jobs_queue_by_age WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL
    AND priority = ranks.column1 AND session COLLATE BINARY = counts.session ORDER BY id COLLATE BINARY LIMIT 1) AS oldest
FROM session_counts AS counts CROSS JOIN (VALUES (0), (1), (2)) AS ranks WHERE counts.queued > 0 UNION ALL SELECT (SELECT id FROM jobs INDEXED BY jobs_moved_by_rank WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL
    AND priority = ranks.column1 AND session COLLATE BINARY = counts.session ORDER BY id COLLATE BINARY LIMIT 1) AS oldest
FROM session_counts AS counts CROSS JOIN (VALUES (0), (1), (2)) AS ranks WHERE counts.queued > 0
    ) AS firsts
);

-- oldest undelivered
WITH RECURSIVE busy (key) AS (
    SELECT min(webhook) FROM deliveries WHERE state = 'pending'
    UNION ALL
    SELECT (SELECT min(webhook) FROM deliveries WHERE state = 'pending' AND webhook > busy.key)
    FROM busy WHERE busy.key IS NOT NULL
)
SELECT time FROM events WHERE id = (
    SELECT min(oldest) FROM (
        SELECT (SELECT min(event) FROM deliveries WHERE webhook = busy.key AND state = 'pending') AS oldest
        FROM busy WHERE busy.key IS NOT NULL
    ) AS firsts
);

-- failures of a batch
SELECT jobs.id, jobs.session, jobs.batch, jobs.state, jobs.revision, jobs.spec, jobs.reason, jobs.retry_at, jobs.failure, jobs.promotion, jobs.finish, jobs.attempts, jobs.failures_in_a_row, jobs.resume_decision, jobs.resume_offset, jobs.resume_why, jobs.created_at, jobs.started_at, jobs.finished_at, jobs.mirror, jobs.resource_until, jobs.resource_left, jobs.part_lost, jobs.disproved, jobs.sync_failed, jobs.token, jobs.trace, jobs.queue_rank, jobs.gid, jobs.node, jobs.admissions, jobs.times_held_off, jobs.stated_digests, jobs.wait_location, parts.id, parts.url, parts.etag, parts.last_modified, parts.last_modified_is_strong, parts.is_encoded, parts.size, parts.bytes_durable, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type, parts.content_disposition, parts.ranges, parts.digests, parts.etag_is_recent, parts.joined_by_evidence
FROM jobs LEFT JOIN parts ON parts.job = jobs.id
WHERE jobs.session = ? AND jobs.batch = ? AND jobs.state = 'failed' ORDER BY jobs.id LIMIT ?;

-- first unacknowledged event
SELECT min(first_event) FROM batches WHERE session = ? AND state <> 'acknowledged';

-- last batch
SELECT finish_event FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1;

-- oldest finishes
SELECT batches.session, batches.number, batches.finish_event, batches.finished_at AS since, (SELECT coalesce(sum(by), 0) FROM clock_jumps WHERE last_event >= batches.finish_event) AS jumps
FROM sessions CROSS JOIN batches ON batches.session = sessions.id AND batches.number = (
    SELECT number FROM batches WHERE session = sessions.id AND state = 'finished' AND is_awaited = 1
    ORDER BY finished_at LIMIT 1);

-- bytes of a session
SELECT (SELECT coalesce(sum(file_size), 0) FROM jobs
        WHERE session = :session AND state = 'succeeded' AND state <> 'running')
    + (SELECT coalesce(sum(max(parts.bytes_durable, coalesce(parts.size, 0))), 0)
        FROM parts JOIN jobs ON jobs.id = parts.job
        WHERE jobs.session = :session AND jobs.state IN ('queued', 'running', 'waiting', 'paused'));

-- select of a job
SELECT jobs.id, jobs.session, jobs.batch, jobs.state, jobs.revision, jobs.spec, jobs.reason, jobs.retry_at, jobs.failure, jobs.promotion, jobs.finish, jobs.attempts, jobs.failures_in_a_row, jobs.resume_decision, jobs.resume_offset, jobs.resume_why, jobs.created_at, jobs.started_at, jobs.finished_at, jobs.mirror, jobs.resource_until, jobs.resource_left, jobs.part_lost, jobs.disproved, jobs.sync_failed, jobs.token, jobs.trace, jobs.queue_rank, jobs.gid, jobs.node, jobs.admissions, jobs.times_held_off, jobs.stated_digests, jobs.wait_location, parts.id, parts.url, parts.etag, parts.last_modified, parts.last_modified_is_strong, parts.is_encoded, parts.size, parts.bytes_durable, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type, parts.content_disposition, parts.ranges, parts.digests, parts.etag_is_recent, parts.joined_by_evidence
FROM jobs LEFT JOIN parts ON parts.job = jobs.id
;

-- select of a job with its tags
SELECT jobs.id, jobs.session, jobs.batch, jobs.state, jobs.revision, jobs.spec, jobs.reason, jobs.retry_at, jobs.failure, jobs.promotion, jobs.finish, jobs.attempts, jobs.failures_in_a_row, jobs.resume_decision, jobs.resume_offset, jobs.resume_why, jobs.created_at, jobs.started_at, jobs.finished_at, jobs.mirror, jobs.resource_until, jobs.resource_left, jobs.part_lost, jobs.disproved, jobs.sync_failed, jobs.token, jobs.trace, jobs.queue_rank, jobs.gid, jobs.node, jobs.admissions, jobs.times_held_off, jobs.stated_digests, jobs.wait_location, parts.id, parts.url, parts.etag, parts.last_modified, parts.last_modified_is_strong, parts.is_encoded, parts.size, parts.bytes_durable, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type, parts.content_disposition, parts.ranges, parts.digests, parts.etag_is_recent, parts.joined_by_evidence
FROM job_tags JOIN jobs ON jobs.id = job_tags.job LEFT JOIN parts ON parts.job = jobs.id
;
