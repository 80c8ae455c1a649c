/// Version 2: sessions, webhooks and idempotency. SQLite alters most of a table in place. To change a CHECK, the
/// migration copies the table (sqlite.org/lang_altertable.html, section 7). GRDB disables foreign keys meanwhile.
extension Schema {
    /// Jobs can also wait for a client, without a time at which they continue.
    static let help = """
        ALTER TABLE sessions ADD COLUMN waits_for_help INTEGER NOT NULL DEFAULT 0 CHECK (waits_for_help IN (0, 1));
        ALTER TABLE sessions ADD COLUMN is_finishing INTEGER NOT NULL DEFAULT 0 CHECK (is_finishing IN (0, 1));
        CREATE INDEX sessions_finishing ON sessions (id) WHERE is_finishing = 1;

        CREATE TABLE jobs_2 (
            id TEXT NOT NULL PRIMARY KEY,
            session TEXT NOT NULL REFERENCES sessions (id),
            batch INTEGER NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled')),
            revision INTEGER NOT NULL CHECK (revision >= 1),
            spec TEXT NOT NULL,
            priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 2),
            host TEXT NOT NULL,
            reason TEXT CHECK (reason IN ('retry', 'network', 'space', 'credentials', 'url')),
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
            CHECK ((retry_at IS NOT NULL) = (reason IS NOT NULL AND reason IN ('retry', 'network', 'space'))),
            CHECK ((state IN ('waiting', 'failed')) = (failure IS NOT NULL)),
            CHECK (promotion IS NULL OR state = 'running'),
            CHECK ((state = 'succeeded') = (finish IS NOT NULL)),
            CHECK ((state = 'succeeded') = (file_size IS NOT NULL)),
            CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
        ) STRICT;
        INSERT INTO jobs_2 (id, session, batch, state, revision, spec, priority, host, reason, retry_at, failure,
                promotion, finish, file_size, attempts, failures_in_a_row, resume_decision, resume_offset, resume_why,
                created_at, started_at, finished_at)
            SELECT id, session, batch, state, revision, spec, priority, host, reason, retry_at, failure,
                promotion, finish, file_size, attempts, failures_in_a_row, resume_decision, resume_offset, resume_why,
                created_at, started_at, finished_at FROM jobs;
        DROP TABLE jobs;
        ALTER TABLE jobs_2 RENAME TO jobs;
        CREATE INDEX jobs_queue ON jobs (priority, id, session, host) WHERE state = 'queued';
        CREATE INDEX jobs_running ON jobs (session, host) WHERE state = 'running';
        CREATE INDEX jobs_waiting ON jobs (retry_at) WHERE retry_at IS NOT NULL;
        CREATE INDEX jobs_helpless ON jobs (session, id) WHERE reason IN ('credentials', 'url');
        CREATE INDEX jobs_in_trouble ON jobs (state, id) WHERE state IN ('paused', 'failed', 'cancelled');
        CREATE INDEX jobs_by_session ON jobs (session, id);
        CREATE INDEX jobs_by_batch ON jobs (session, batch, state, id, file_size);

        """

    /// `finished_at` outlives the event `session.finished`.
    static let acknowledgement = """
        ALTER TABLE batches ADD COLUMN finished_at INTEGER;
        UPDATE batches SET finished_at = (SELECT time FROM events WHERE events.id = finish_event)
            WHERE finish_event IS NOT NULL;
        DROP INDEX batches_unacknowledged;
        CREATE INDEX batches_unacknowledged ON batches (session, finished_at) WHERE state = 'finished';
        CREATE INDEX batches_untaken ON batches (session, first_event) WHERE state <> 'acknowledged';
        CREATE INDEX batches_by_finish ON batches (finish_event) WHERE finish_event IS NOT NULL;

        """

    /// A delivery that is requested again starts its schedule again and keeps its log. An expedited delivery keeps its
    /// scheduled time in `scheduled_at`. `not_before` is the earliest time at which it may be expedited.
    ///
    /// `deliveries_due` has all pending deliveries except finishes, in the order of sending. Finishes are few, and are
    /// held back. `deliveries_waiting` has the deliveries that can be expedited, and so none that never failed.
    static let deliveryTries = """
        ALTER TABLE webhooks ADD COLUMN failing_since INTEGER;
        ALTER TABLE webhooks ADD COLUMN former_secrets TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE deliveries ADD COLUMN tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0);
        ALTER TABLE deliveries ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE deliveries ADD COLUMN scheduled_at INTEGER;
        UPDATE deliveries SET tries = (SELECT count(*) FROM delivery_attempts WHERE delivery = deliveries.id);
        DROP INDEX deliveries_due;
        CREATE INDEX deliveries_due ON deliveries (webhook, next_attempt_at, event)
            WHERE state = 'pending' AND type <> 'session.finished';
        CREATE INDEX deliveries_waiting ON deliveries (webhook, next_attempt_at)
            WHERE state = 'pending' AND tries > 0 AND next_attempt_at > not_before;

        """

    /// The last pruned event of each session. The row is kept after the session is removed, because a later session of
    /// the same name reads the same journal.
    static let removedEvents = """
        CREATE TABLE removed_events (
            session TEXT NOT NULL PRIMARY KEY,
            last_event INTEGER NOT NULL
        ) STRICT;

        """

    /// The first answers to requests with an `Idempotency-Key`.
    static let idempotency = """
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
        CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

        """
}
