/// The tables of jobs.
extension PostgresSchema {
    /// A table that changes often leaves room in its pages, so that an update that touches no index stays in its page.
    static let jobs = """
        CREATE TABLE jobs (
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            session text COLLATE "C" NOT NULL REFERENCES sessions (id),
            batch bigint NOT NULL,
            state text COLLATE "C" NOT NULL
                CHECK (state IN ('queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled')),
            revision bigint NOT NULL CHECK (revision >= 1),
            spec text COLLATE "C" NOT NULL,
            priority bigint NOT NULL CHECK (priority BETWEEN 0 AND 2),
            host text COLLATE "C" NOT NULL,
            reason text COLLATE "C" CHECK (reason IN ('retry', 'network', 'space', 'storage', 'credentials', 'url')),
            retry_at bigint,
            failure text COLLATE "C",
            promotion text COLLATE "C",
            finish text COLLATE "C",
            file_size bigint CHECK (file_size >= 0),
            attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
            failures_in_a_row bigint NOT NULL DEFAULT 0 CHECK (failures_in_a_row >= 0),
            resume_decision text COLLATE "C" CHECK (resume_decision IN ('fresh', 'resumed', 'restarted')),
            resume_offset bigint,
            resume_why text COLLATE "C",
            created_at bigint NOT NULL,
            started_at bigint,
            finished_at bigint,
            mirror bigint NOT NULL DEFAULT 0 CHECK (mirror >= 0),
            held_until bigint,
            fails_at bigint,
            resource_until bigint,
            resource_left bigint,
            part_lost bigint NOT NULL DEFAULT 0 CHECK (part_lost IN (0, 1)),
            disproved bigint NOT NULL DEFAULT 0 CHECK (disproved IN (0, 1)),
            sync_failed bigint NOT NULL DEFAULT 0 CHECK (sync_failed IN (0, 1)),
            deadline bigint,
            token text COLLATE "C",
            trace text COLLATE "C",
            queue_rank text COLLATE "C",
            gid text COLLATE "C",
            FOREIGN KEY (session, batch) REFERENCES batches (session, number),
            CHECK ((state = 'waiting') = (reason IS NOT NULL)),
            CHECK ((retry_at IS NOT NULL) = (reason IS NOT NULL AND reason IN ('retry', 'network', 'space', 'storage'))),
            CHECK ((state IN ('waiting', 'failed')) = (failure IS NOT NULL)),
            CHECK (promotion IS NULL OR state = 'running'),
            CHECK ((state = 'succeeded') = (finish IS NOT NULL)),
            CHECK ((state = 'succeeded') = (file_size IS NOT NULL)),
            CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
        ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

        """

    static let jobIndexes = """
        CREATE INDEX jobs_running ON jobs (session, host) WHERE state = 'running';
        CREATE INDEX jobs_running_by_age ON jobs (id, session) WHERE state = 'running';
        CREATE INDEX jobs_waiting ON jobs (retry_at) WHERE retry_at IS NOT NULL;
        CREATE INDEX jobs_helpless ON jobs (session, id) WHERE reason IN ('credentials', 'url');
        CREATE INDEX jobs_by_session ON jobs (session, id);
        CREATE INDEX jobs_held ON jobs (held_until) WHERE held_until IS NOT NULL;
        CREATE INDEX jobs_pressed ON jobs (fails_at) WHERE fails_at IS NOT NULL;
        CREATE INDEX jobs_resting ON jobs (state, id) WHERE state <> 'running';
        CREATE INDEX jobs_resting_by_session ON jobs (session, state, id, batch, file_size) WHERE state <> 'running';
        CREATE INDEX jobs_failed ON jobs (session, batch, id) WHERE state = 'failed';
        CREATE INDEX jobs_by_token ON jobs (token, state) WHERE token IS NOT NULL;
        CREATE INDEX jobs_queue_by_age ON jobs (priority, session, id, host)
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL;
        CREATE INDEX jobs_queue_by_host ON jobs (priority, session, host, id)
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL;
        CREATE INDEX jobs_moved_by_rank ON jobs (priority, session, queue_rank, id, host)
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL;
        CREATE INDEX jobs_moved_by_host ON jobs (priority, session, host, queue_rank, id)
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL;
        CREATE INDEX jobs_moved ON jobs (session, priority, queue_rank) WHERE queue_rank IS NOT NULL;
        CREATE UNIQUE INDEX jobs_by_gid ON jobs (session, gid) WHERE gid IS NOT NULL;

        """

    static let parts = """
        CREATE TABLE job_tags (
            tag text COLLATE "C" NOT NULL,
            job text COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            session text COLLATE "C" NOT NULL DEFAULT '',
            PRIMARY KEY (tag, job)
        );
        CREATE INDEX job_tags_by_job ON job_tags (job);
        CREATE INDEX job_tags_by_session ON job_tags (session, tag, job);

        CREATE TABLE parts (
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            job text COLLATE "C" NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
            url text COLLATE "C" NOT NULL,
            etag text COLLATE "C",
            last_modified text COLLATE "C",
            last_modified_is_strong bigint NOT NULL CHECK (last_modified_is_strong IN (0, 1)),
            is_encoded bigint NOT NULL CHECK (is_encoded IN (0, 1)),
            size bigint CHECK (size >= 0),
            bytes_durable bigint NOT NULL CHECK (bytes_durable >= 0),
            lifetime bigint NOT NULL DEFAULT 604800000 CHECK (lifetime >= 0),
            expires_at bigint,
            lifetime_left bigint,
            content_type text COLLATE "C",
            content_disposition text COLLATE "C",
            ranges text COLLATE "C" CHECK (ranges LIKE '[[%]]'),
            digests text COLLATE "C",
            CHECK (size IS NULL OR bytes_durable <= size)
        ) WITH (fillfactor = 80);
        CREATE INDEX parts_expiring ON parts (expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX parts_short_lived ON parts (expires_at) WHERE expires_at IS NOT NULL AND lifetime < 3600000;

        """
    /// Version 20, as in SQLite, where it does not change these indexes. They have an order that no other index has, and the
    /// statements of the queue ask for it (`QueueLane.ordered`).
    ///
    /// - `journal.settings`: counts the changes of settings by clients.
    /// - `commit_notices`: the notices of the last commits, for the nodes that write next (`PostgresGroup`). It is not durable.
    static let version20 = """
        UPDATE jobs SET held_until = NULL WHERE held_until IS NOT NULL AND state <> 'queued';
        ALTER TABLE journal ADD COLUMN settings bigint NOT NULL DEFAULT 0;
        CREATE UNLOGGED TABLE commit_notices (
            position bigint NOT NULL PRIMARY KEY,
            notice text COLLATE "C" NOT NULL
        );
        DROP INDEX jobs_queue_by_age;
        DROP INDEX jobs_queue_by_host;
        DROP INDEX jobs_moved_by_rank;
        DROP INDEX jobs_moved_by_host;
        CREATE INDEX jobs_queue_by_age ON jobs
            (priority, session COLLATE "POSIX", id COLLATE "POSIX", host COLLATE "POSIX")
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL;
        CREATE INDEX jobs_queue_by_host ON jobs
            (priority, session COLLATE "POSIX", host COLLATE "POSIX", id COLLATE "POSIX")
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NULL;
        CREATE INDEX jobs_moved_by_rank ON jobs
            (priority, session COLLATE "POSIX", queue_rank COLLATE "POSIX", id COLLATE "POSIX", host COLLATE "POSIX")
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL;
        CREATE INDEX jobs_moved_by_host ON jobs
            (priority, session COLLATE "POSIX", host COLLATE "POSIX", queue_rank COLLATE "POSIX", id COLLATE "POSIX")
            WHERE state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL;

        """
}
