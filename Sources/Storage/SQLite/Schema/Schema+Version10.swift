/// Version 10: counts that are kept, and an index for each filter of a list.
extension Schema {
    /// Every transaction that changes a job, a part, a delivery or a finish changes these rows as well. They have no
    /// CHECK: a wrong count must not make the change fail. `Store.checkCounts` corrects it.
    ///
    /// `session_counts`: the jobs of each state, and of the latest batch (`batch`) those that are outstanding or have
    /// succeeded: `unsized` counts the outstanding jobs whose size is unknown, `sized` the others.
    static let counts = """
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
        INSERT INTO session_counts (session, queued, running, waiting, paused, succeeded, failed, cancelled, batch,
            unsized, sized, received, expected)
        \(countedSessions);
        INSERT INTO service_counts (id, parts, part_bytes, deliveries_pending, deliveries_acknowledged,
            deliveries_exhausted, deliveries_cancelled, finishes_unacknowledged)
        SELECT 1, counted.* FROM (\(counted(unacknowledged: "true"))) AS counted;

        """

    /// Indexes for lists by state, so that a list of a rare state reads no other jobs. They are partial: a job changes few
    /// of them on its way, and SQLite considers them only for queries that name their condition. Otherwise it would
    /// prefer them to the indexes of the queue. `jobs_resting_by_session` has the columns that `countedSessions` reads.
    static let listIndexes = """
        DROP INDEX jobs_in_trouble;
        DROP INDEX jobs_by_batch;
        CREATE INDEX jobs_resting ON jobs (state, id) WHERE state <> 'running';
        CREATE INDEX jobs_resting_by_session ON jobs (session, state, id, batch, file_size) WHERE state <> 'running';
        CREATE INDEX jobs_running_by_age ON jobs (id, session) WHERE state = 'running';
        CREATE INDEX jobs_failed ON jobs (session, batch, id) WHERE state = 'failed';
        ALTER TABLE job_tags ADD COLUMN session TEXT NOT NULL DEFAULT '';
        UPDATE job_tags SET session = (SELECT session FROM jobs WHERE id = job);
        CREATE INDEX job_tags_by_session ON job_tags (session, tag, job);
        CREATE INDEX deliveries_settled ON deliveries (webhook, state, event) WHERE state <> 'pending';

        """

    /// Counts what the rows of `session_counts` keep.
    static let countedSessions = """
        SELECT sessions.id AS session,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'queued'), 0) AS queued,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'running'), 0) AS running,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'waiting'), 0) AS waiting,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'paused'), 0) AS paused,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'succeeded'), 0) AS succeeded,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'failed'), 0) AS failed,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'cancelled'), 0) AS cancelled,
            coalesce(latest.number, 0) AS batch,
            coalesce(sum(groups.jobs) FILTER (WHERE groups.batch = latest.number
                AND state IN ('queued', 'running', 'waiting', 'paused')), 0) - coalesce(coming.jobs, 0) AS unsized,
            coalesce(sum(groups.jobs) FILTER (WHERE groups.batch = latest.number
                AND state = 'succeeded'), 0) + coalesce(coming.jobs, 0) AS sized,
            coalesce(sum(groups.bytes) FILTER (WHERE groups.batch = latest.number), 0)
                + coalesce(coming.received, 0) AS received,
            coalesce(sum(groups.bytes) FILTER (WHERE groups.batch = latest.number), 0)
                + coalesce(coming.expected, 0) AS expected
        FROM sessions
        LEFT JOIN (
            SELECT session, max(number) AS number FROM batches GROUP BY session
        ) AS latest ON latest.session = sessions.id
        LEFT JOIN (
            SELECT session, batch, state, count(*) AS jobs, coalesce(sum(file_size), 0) AS bytes
            FROM jobs WHERE state <> 'running' GROUP BY session, batch, state
            UNION ALL
            SELECT session, batch, state, count(*), 0 FROM jobs WHERE state = 'running' GROUP BY session, batch, state
        ) AS groups ON groups.session = sessions.id
        LEFT JOIN (
            SELECT jobs.session, jobs.batch, count(parts.size) AS jobs,
                coalesce(sum(parts.bytes_durable), 0) AS received, coalesce(sum(parts.size), 0) AS expected
            FROM parts JOIN jobs ON jobs.id = parts.job
            WHERE jobs.state IN ('queued', 'running', 'waiting', 'paused') GROUP BY jobs.session, jobs.batch
        ) AS coming ON coming.session = sessions.id AND coming.batch = latest.number
        GROUP BY sessions.id, latest.number, coming.jobs, coming.received, coming.expected
        """

    /// Counts what the row of `service_counts` keeps.
    static let countedService = counted(unacknowledged: "is_awaited = 1")

    private static func counted(unacknowledged condition: String) -> String {
        """
        SELECT parts, part_bytes, deliveries_pending, deliveries_acknowledged, deliveries_exhausted,
            deliveries_cancelled, finishes_unacknowledged
        FROM (SELECT count(*) AS parts, coalesce(sum(bytes_durable), 0) AS part_bytes FROM parts) AS part_counts
        CROSS JOIN (
            SELECT count(*) FILTER (WHERE state = 'pending') AS deliveries_pending,
                count(*) FILTER (WHERE state = 'acknowledged') AS deliveries_acknowledged,
                count(*) FILTER (WHERE state = 'exhausted') AS deliveries_exhausted,
                count(*) FILTER (WHERE state = 'cancelled') AS deliveries_cancelled
            FROM deliveries
        ) AS delivery_counts
        CROSS JOIN (
            SELECT count(*) AS finishes_unacknowledged FROM batches WHERE state = 'finished' AND \(condition)
        ) AS finish_counts
        """
    }
}
