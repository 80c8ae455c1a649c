import Formats
import Foundation
import GRDB

/// The tables, version by version. A released migration is never edited; a new migration follows it.
///
/// CHECKs repeat the invariants of the domain, so that a fault above the store can't store invalid data. Times are
/// milliseconds since 1970 (UTC), sizes are bytes. Most indexes on `state` are partial: an index that follows every change
/// of every job costs pages in every commit. PostgreSQL accepts the SQL, except for `STRICT` and `AUTOINCREMENT`.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: sessions, jobs, journal, webhooks") { db in
            try db.execute(sql: sessions + jobs + events + webhooks)
            try db.execute(
                sql: "INSERT INTO sessions (id, configuration, created_at) VALUES ('default', '{}', ?)",
                arguments: [Date().milliseconds])
        }
        migrator.registerMigration("2: help, acknowledgement, secrets, idempotency") { db in
            try db.execute(sql: help + acknowledgement + deliveryTries + removedEvents + idempotency)
        }
        migrator.registerMigration("3: moments, mirrors, expiring parts") { db in
            try db.execute(sql: moments + expiry)
        }
        migrator.registerMigration("4: parts with gaps") { db in
            try db.execute(sql: gaps)
        }
        migrator.registerMigration("5: digests of parts") { db in
            try db.execute(sql: digests)
        }
        migrator.registerMigration("6: failing storage") { db in
            try addFailingStorage(db)
        }
        migrator.registerMigration("7: the clock") { db in
            try db.execute(sql: clock)
        }
        migrator.registerMigration("8: history") { db in
            try db.execute(sql: history)
            try db.execute(
                sql: """
                    INSERT INTO history (identity, commits, began_at)
                    SELECT lower(hex(randomblob(10))), 0,
                        CASE WHEN EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'events') THEN NULL ELSE ? END
                    """, arguments: [Date().milliseconds])
        }
        migrator.registerMigration("9: redelivery") { db in
            try db.execute(sql: redelivery)
        }
        migrator.registerMigration("10: counts") { db in
            try db.execute(sql: listIndexes + counts)
        }
        migrator.registerMigration("11: endpoints of webhooks") { db in
            try db.execute(sql: endpoints)
        }
        migrator.registerMigration("12: tokens") { db in
            try db.execute(sql: tokens)
        }
        migrator.registerMigration("13: sealed secrets") { db in
            try db.execute(sql: sealing)
        }
        migrator.registerMigration("14: reach of webhooks") { db in
            try db.execute(sql: reach)
        }
        migrator.registerMigration("15: settings of the service") { db in
            try db.execute(sql: serviceSettings)
        }
        migrator.registerMigration("16: traces of jobs") { db in
            try db.execute(sql: traces)
        }
        migrator.registerMigration("17: throughput") { db in
            try db.execute(sql: throughput)
        }
        migrator.registerMigration("18: places in the queue") { db in
            try db.execute(sql: queueRanks)
        }
        migrator.registerMigration("19: nodes") { db in
            try db.execute(sql: nodes)
        }
        // PostgreSQL has tables for lost commits and the places of nodes besides.
        migrator.registerMigration("20: held jobs, expected acknowledgements") { db in
            try db.execute(sql: heldJobs)
            try db.execute(sql: acknowledgements)
        }
        return migrator
    }

    private static let sessions = """
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
        CREATE UNIQUE INDEX batches_taking_jobs ON batches (session) WHERE state IN ('open', 'due');
        CREATE INDEX batches_due ON batches (due_at) WHERE state = 'due';
        CREATE INDEX batches_unacknowledged ON batches (session, number) WHERE state = 'finished';

        """

    private static let jobs = """
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
        CREATE INDEX jobs_queue ON jobs (priority, id, session, host) WHERE state = 'queued';
        CREATE INDEX jobs_running ON jobs (session, host) WHERE state = 'running';
        CREATE INDEX jobs_waiting ON jobs (retry_at) WHERE state = 'waiting';
        CREATE INDEX jobs_in_trouble ON jobs (state, id) WHERE state IN ('paused', 'failed', 'cancelled');
        CREATE INDEX jobs_by_session ON jobs (session, id);
        CREATE INDEX jobs_by_batch ON jobs (session, batch, state, file_size);

        CREATE TABLE job_tags (
            tag TEXT NOT NULL,
            job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            PRIMARY KEY (tag, job)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX job_tags_by_job ON job_tags (job);

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

        """

    private static let events = """
        CREATE TABLE events (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            time INTEGER NOT NULL,
            session TEXT NOT NULL,
            job TEXT,
            data TEXT NOT NULL
        ) STRICT;
        CREATE INDEX events_by_session ON events (session, id);
        CREATE INDEX events_by_job ON events (job, id) WHERE job IS NOT NULL;

        """

    private static let webhooks = """
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
        CREATE INDEX deliveries_pending ON deliveries (webhook, event) WHERE state = 'pending';
        CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'pending';
        CREATE INDEX deliveries_by_event ON deliveries (event);

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

        """
}
