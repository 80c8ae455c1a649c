/// The tables of sessions, and the journal of their events.
extension PostgresSchema {
    static let sessions = """
        CREATE TABLE sessions (
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            configuration text COLLATE "C" NOT NULL,
            acknowledged_through bigint NOT NULL DEFAULT 0,
            created_at bigint NOT NULL,
            waits_for_help bigint NOT NULL DEFAULT 0 CHECK (waits_for_help IN (0, 1)),
            is_finishing bigint NOT NULL DEFAULT 0 CHECK (is_finishing IN (0, 1))
        );
        CREATE INDEX sessions_finishing ON sessions (id) WHERE is_finishing = 1;

        CREATE TABLE batches (
            session text COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            number bigint NOT NULL CHECK (number >= 1),
            state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'due', 'finished', 'acknowledged')),
            outstanding bigint NOT NULL CHECK (outstanding >= 0),
            succeeded bigint NOT NULL CHECK (succeeded >= 0),
            failed bigint NOT NULL CHECK (failed >= 0),
            cancelled bigint NOT NULL CHECK (cancelled >= 0),
            due_at bigint,
            first_event bigint,
            finish_event bigint,
            finished_at bigint,
            PRIMARY KEY (session, number),
            CHECK ((state = 'due') = (due_at IS NOT NULL)),
            CHECK ((state IN ('finished', 'acknowledged')) = (finish_event IS NOT NULL)),
            CHECK (state = 'open' OR outstanding = 0)
        );
        CREATE UNIQUE INDEX batches_taking_jobs ON batches (session) WHERE state IN ('open', 'due');
        CREATE INDEX batches_due ON batches (due_at) WHERE state = 'due';
        CREATE INDEX batches_unacknowledged ON batches (session, finished_at) WHERE state = 'finished';
        CREATE INDEX batches_untaken ON batches (session, first_event) WHERE state <> 'acknowledged';
        CREATE INDEX batches_by_finish ON batches (finish_event) WHERE finish_event IS NOT NULL;

        CREATE TABLE given_batches (
            session text COLLATE "C" NOT NULL PRIMARY KEY,
            number bigint NOT NULL
        );
        CREATE TABLE session_counts (
            session text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
            queued bigint NOT NULL DEFAULT 0,
            running bigint NOT NULL DEFAULT 0,
            waiting bigint NOT NULL DEFAULT 0,
            paused bigint NOT NULL DEFAULT 0,
            succeeded bigint NOT NULL DEFAULT 0,
            failed bigint NOT NULL DEFAULT 0,
            cancelled bigint NOT NULL DEFAULT 0,
            batch bigint NOT NULL DEFAULT 0,
            unsized bigint NOT NULL DEFAULT 0,
            sized bigint NOT NULL DEFAULT 0,
            received bigint NOT NULL DEFAULT 0,
            expected bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50);

        """

    /// `journal.last` is the identifier of the last event. Every transaction that changes something locks this row first, so one
    /// node writes at a time, and the identifiers are in the order of the commits, without gaps. `commits` counts the
    /// commits, and `writer` identifies the last one, so that a node that has lost its connection finds whether it was stored.
    static let journal = """
        CREATE TABLE journal (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            last bigint NOT NULL,
            commits bigint NOT NULL,
            writer text COLLATE "C" NOT NULL
        ) WITH (fillfactor = 10);

        CREATE TABLE events (
            id bigint NOT NULL PRIMARY KEY,
            type text COLLATE "C" NOT NULL,
            time bigint NOT NULL,
            session text COLLATE "C" NOT NULL,
            job text COLLATE "C",
            data text COLLATE "C" NOT NULL
        );
        CREATE INDEX events_by_session ON events (session, id);
        CREATE INDEX events_by_job ON events (job, id) WHERE job IS NOT NULL;

        CREATE TABLE removed_events (
            session text COLLATE "C" NOT NULL PRIMARY KEY,
            last_event bigint NOT NULL
        );

        """

    /// See `Schema.acknowledgements`. The defaults are right for what a node of version 19 writes.
    static let acknowledgements = """
        ALTER TABLE sessions ADD COLUMN revision bigint NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN has_consumer bigint NOT NULL DEFAULT 0 CHECK (has_consumer IN (0, 1));
        ALTER TABLE sessions ADD COLUMN expects_acknowledgement bigint NOT NULL DEFAULT 0
            CHECK (expects_acknowledgement IN (0, 1));
        ALTER TABLE batches ADD COLUMN is_awaited bigint NOT NULL DEFAULT 1 CHECK (is_awaited IN (0, 1));
        ALTER TABLE batches ADD COLUMN is_reported bigint NOT NULL DEFAULT 0 CHECK (is_reported IN (0, 1));
        CREATE INDEX batches_awaited ON batches (session, finished_at) WHERE state = 'finished' AND is_awaited = 1;
        CREATE INDEX batches_unreported ON batches (finish_event)
            WHERE state = 'finished' AND is_awaited = 1 AND is_reported = 0;
        \(Schema.knownConsumers)
        """
}
