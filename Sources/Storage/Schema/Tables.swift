import Downloads

/// The tables of sessions, events and webhooks.
extension Schema {
    /// - `acknowledged_through`: the last event that the consumer has acknowledged by a request.
    /// - `waits_for_help`: `session.waiting` was announced, and no job was queued since.
    /// - `revision`: of the configuration.
    /// - `has_consumer`: whether something can acknowledge the finishes of the session.
    /// - `expects_acknowledgement`: whether a finish waits for an acknowledgement. It follows from the configuration and
    ///   `has_consumer`.
    static let sessions = Table(
        name: "sessions",
        columns: [
            .text("id", "NOT NULL PRIMARY KEY"), .sealed("configuration", "NOT NULL"),
            .integer("acknowledged_through", "NOT NULL DEFAULT 0"), .integer("created_at", "NOT NULL"),
            .flag("waits_for_help"), .flag("is_finishing"),
            .integer("revision", "NOT NULL DEFAULT 0", since: 20), .flag("has_consumer", since: 20),
            .flag("expects_acknowledgement", since: 20),
        ],
        indexes: [Index("sessions_finishing", "id", where: "is_finishing = 1")],
        sealedBy: ["id"])

    /// `finished_at` outlives the event `session.finished`.
    ///
    /// - `imports`: the lists that are being imported into the batch.
    /// - `is_awaited`: whether the acknowledgement of a finished batch is awaited.
    /// - `is_reported`: whether the log has a warning that it is missing.
    static let batches = Table(
        name: "batches",
        columns: [
            .text("session", "NOT NULL REFERENCES sessions (id) ON DELETE CASCADE"),
            .integer("number", "NOT NULL CHECK (number >= 1)"),
            .text("state", "NOT NULL CHECK (state IN ('open', 'due', 'finished', 'acknowledged'))"),
            .count("outstanding"), .count("succeeded"), .count("failed"), .count("cancelled"),
            .moved("due_at", by: .where("state = 'due'")),
            .integer("first_event"), .integer("finish_event"), .integer("finished_at"),
            .flag("is_awaited", default: 1, since: 20), .flag("is_reported", since: 20),
            .count("imports", "DEFAULT 0", since: 24),
        ],
        key: ["session", "number"],
        constraints: [
            "CHECK ((state = 'due') = (due_at IS NOT NULL))",
            "CHECK ((state IN ('finished', 'acknowledged')) = (finish_event IS NOT NULL))",
            "CHECK (state = 'open' OR outstanding = 0)",
        ],
        indexes: [
            Index("batches_taking_jobs", "session", where: "state IN ('open', 'due')", isUnique: true),
            Index("batches_due", "due_at", where: "state = 'due'"),
            Index("batches_unacknowledged", "session", "finished_at", where: "state = 'finished'"),
            Index("batches_untaken", "session", "first_event", where: "state <> 'acknowledged'"),
            Index("batches_by_finish", "finish_event", where: "finish_event IS NOT NULL"),
            Index(
                "batches_awaited", "session", "finished_at", where: "state = 'finished' AND is_awaited = 1", since: 20),
            Index(
                "batches_unreported", "finish_event",
                where: "state = 'finished' AND is_awaited = 1 AND is_reported = 0", since: 20),
        ])

    /// - `journal.last`: the identifier of the last event, on PostgreSQL. Every transaction that changes something locks this row first,
    ///   so one node writes at a time, and the identifiers are in the order of the commits.
    /// - `journal.commits`: counts the commits.
    /// - `journal.writer`: identified the last commit of version 0.2.0.
    /// - `journal.first_node`: the node that has the parts and the files of jobs without a node, which are older than the nodes.
    ///   NULL: it is not known.
    /// - `journal.settings`: counts the changes of settings by clients.
    /// - `journal.timeline`: that of the server at the last look of a node.
    /// - `removed_events`: the last pruned event of each session. The row is kept after the session is removed, because a later
    ///   session of the same name reads the same journal.
    static let journalTables: [Table] = [
        Table(
            name: "journal",
            columns: [
                .integer("id", "NOT NULL PRIMARY KEY CHECK (id = 1)"), .integer("last", "NOT NULL"),
                .integer("commits", "NOT NULL"), .text("writer", "NOT NULL"), .integer("leader", since: 19),
                .integer("first_node", since: 19), .integer("settings", "NOT NULL DEFAULT 0", since: 20),
                .text("timeline", since: 20),
            ],
            isOfPostgres: true,
            storage: "fillfactor = 10"),
        Table(
            name: "events",
            columns: [
                Column("id", .journal), .text("type", "NOT NULL"), .integer("time", "NOT NULL"),
                .text("session", "NOT NULL"), .text("job"), .text("data", "NOT NULL"),
            ],
            indexes: [
                Index("events_by_session", "session", "id"),
                Index("events_by_job", "job", "id", where: "job IS NOT NULL"),
            ]),
        Table(
            name: "removed_events",
            columns: [.text("session", "NOT NULL PRIMARY KEY"), .integer("last_event", "NOT NULL")]),
    ]

    static let webhookTables = [webhooks, deliveries, deliveryAttempts, webhookKeys]

    /// `headers` and `tls` are JSON, as in the configuration of a session; NULL is the default.
    static let webhooks = Table(
        name: "webhooks",
        columns: [
            Column("key", .serial), .text("session", "NOT NULL REFERENCES sessions (id) ON DELETE CASCADE"),
            .text("name", "NOT NULL"), .sealed("url", "NOT NULL"), .text("events", "NOT NULL"),
            .sealed("secret", "NOT NULL"), .text("state", "NOT NULL CHECK (state IN ('enabled', 'disabled'))"),
            .text("disabled_reason"), .integer("created_at", "NOT NULL"), .integer("failing_since"),
            .sealed("former_secrets", "NOT NULL DEFAULT '[]'"), .sealed("headers"), .text("tls"),
            .text("reach", "NOT NULL DEFAULT 'any' CHECK (reach IN ('any', 'public'))"),
            .text("format", "NOT NULL DEFAULT 'standard' CHECK (format IN ('standard', 'cloudevents'))", since: 25),
            .text("signatures", "NOT NULL DEFAULT 'v1'", since: 25),
        ],
        constraints: [
            "UNIQUE (session, name)", "CHECK ((state = 'disabled') = (disabled_reason IS NOT NULL))",
        ],
        storage: "fillfactor = 80",
        // The key is not known before the row is written.
        sealedBy: ["session", "name"])

    /// A delivery that is requested again starts its schedule again and keeps its log. An expedited delivery keeps its
    /// scheduled time in `scheduled_at`. `not_before` is the earliest time at which it may be expedited.
    ///
    /// - `requests`: how often the delivery was requested. The event counts as one, and each redelivery or recovery as
    ///   another. An attempt settles only the request under which it began.
    /// - `is_accepted`: an endpoint has answered 2xx. It stays set if the endpoint refuses a repetition.
    ///
    /// `deliveries_due` has all pending deliveries except finishes, in the order of sending. Finishes are few, and are
    /// held back. `deliveries_waiting` has the deliveries that can be expedited, and so none that never failed.
    private static let deliveries = Table(
        name: "deliveries",
        columns: [
            .text("id", "NOT NULL PRIMARY KEY"), .integer("webhook", "NOT NULL"), .text("name", "NOT NULL"),
            .text("session", "NOT NULL"), .integer("event", "NOT NULL"), .text("type", "NOT NULL"),
            .text("state", "NOT NULL CHECK (state IN ('pending', 'acknowledged', 'exhausted', 'cancelled'))"),
            .moved("next_attempt_at", by: .where("state = 'pending'")), .count("tries", "DEFAULT 0"),
            .moved(
                "not_before", "NOT NULL DEFAULT 0",
                by: .to("CASE WHEN not_before = 0 THEN 0 ELSE not_before + ?1 END", where: "state = 'pending'")),
            .moved("scheduled_at", by: .where("state = 'pending'")),
            .integer("requests", "NOT NULL DEFAULT 1 CHECK (requests >= 1)"), .flag("is_accepted"),
        ],
        constraints: [
            "UNIQUE (webhook, event)", "CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))",
        ],
        indexes: [
            Index("deliveries_pending", "webhook", "event", where: "state = 'pending'"),
            Index("deliveries_by_event", "event"),
            Index(
                "deliveries_due", "webhook", "next_attempt_at", "event",
                where: "state = 'pending' AND type <> 'session.finished'"),
            Index(
                "deliveries_waiting", "webhook", "next_attempt_at",
                where: "state = 'pending' AND tries > 0 AND next_attempt_at > not_before"),
            Index("deliveries_settled", "webhook", "state", "event", where: "state <> 'pending'"),
        ],
        storage: "autovacuum_vacuum_scale_factor = 0.02")

    /// `delivery_attempts_by_webhook` has all that the statistics of an endpoint read. Its entries arrive in the order of
    /// time, so a commit changes one page of it for each webhook.
    private static let deliveryAttempts = Table(
        name: "delivery_attempts",
        columns: [
            .text("delivery", "NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE"),
            .integer("number", "NOT NULL CHECK (number >= 1)"), .integer("at", "NOT NULL"), .integer("status"),
            .text("error"), Column("latency_seconds", .real, "NOT NULL"), .text("response"),
            .integer("webhook", "NOT NULL DEFAULT 0"), .text("exchange", since: 25),
        ],
        key: ["delivery", "number"],
        indexes: [Index("delivery_attempts_by_webhook", "webhook", "at", "status", "latency_seconds")],
        isOrderedByKey: true)
}

/// The tables of the service itself and of its callers.
extension Schema {
    /// Every transaction that changes a job, a part, a delivery or a finish changes these rows as well. They have no
    /// CHECK: a wrong count must not make the change fail. `Store.checkCounts` corrects it.
    ///
    /// - `session_counts`: the jobs of each state, and of the latest batch (`batch`) those that are outstanding or have
    ///   succeeded: `unsized` counts the outstanding jobs whose size is unknown, `sized` the others.
    /// - `given_batches`: for each session, the number of the last batch before a restore.
    static let counts: [Table] = [
        Table(
            name: "session_counts",
            columns: [.text("session", "NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE")]
                + (Counts<JobState.Kind>.names + ["batch"] + BatchProgress.names).map {
                    .integer($0, "NOT NULL DEFAULT 0")
                },
            isOrderedByKey: true, storage: "fillfactor = 50"),
        Table(
            name: "service_counts",
            columns: [.integer("id", "NOT NULL PRIMARY KEY CHECK (id = 1)")]
                + ServiceCounts.names.map { .integer($0, "NOT NULL") },
            storage: "fillfactor = 10"),
        Table(
            name: "given_batches",
            columns: [.text("session", "NOT NULL PRIMARY KEY"), .integer("number", "NOT NULL")]),
    ]

    /// - `service_settings`: the settings that clients have changed. `value` is JSON. A setting without a row has the value with
    ///   which the service was started.
    /// - `throughput`: the bytes that all transfers together have received in one minute, which is counted from 1970 (UTC). A minute
    ///   without bytes has no row.
    /// - `history`: one row, what the database records about itself. A start compares it with the mark. A restore sets a new
    ///   `identity`. `commits` counts the commits that changed data. `began_at`: when the database was created or restored; older part
    ///   files belong to another database. `last_id`: the largest identifier that was assigned before a restore.
    /// - `sealing`: one row. `step` says whether values that a former key has sealed may still be in the free space of the file
    ///   (`vacuum`) or not (`done`). `key_check` is a sealed text by which a start recognizes the key; NULL before the store has a
    ///   key, and after its key was lost.
    /// - `clock`: the last reading of the wall clock (`time`), the milliseconds since the start of the machine, and the
    ///   identifier of that start; `last_event` is the last event before it.
    /// - `locations`: the folders that locations have had. One of them that is empty is the mount point of a missing disk.
    /// - `clock_jumps`: the time of each followed jump on the present clock, its milliseconds, and the last event before it.
    static let service: [Table] = [
        Table(
            name: "service_settings",
            columns: [
                .text("name", "NOT NULL PRIMARY KEY"), .text("value", "NOT NULL"), .integer("changed_at", "NOT NULL"),
            ],
            isOrderedByKey: true),
        Table(
            name: "throughput",
            columns: [.integer("minute", "NOT NULL PRIMARY KEY"), .integer("bytes", "NOT NULL CHECK (bytes > 0)")]),
        Table(
            name: "history",
            columns: [.text("identity", "NOT NULL"), .count("commits"), .integer("began_at"), .text("last_id")],
            storage: "fillfactor = 10"),
        Table(
            name: "sealing",
            columns: [
                .integer("id", "NOT NULL PRIMARY KEY CHECK (id = 1)"),
                .text("step", "NOT NULL CHECK (step IN ('seal', 'vacuum', 'done'))"), .text("key_check"),
            ]),
        Table(
            name: "clock",
            columns: [
                .integer("id", "NOT NULL PRIMARY KEY CHECK (id = 1)"), .integer("time", "NOT NULL"), .count("uptime"),
                .text("boot"), .integer("last_event", "NOT NULL"),
            ],
            storage: "fillfactor = 10"),
        Table(
            name: "clock_jumps",
            columns: [
                Column("number", .serial), .integer("last_event", "NOT NULL"), .moved("at", "NOT NULL", by: .always),
                .integer("by", "NOT NULL CHECK (by <> 0)"),
            ],
            indexes: [Index("clock_jumps_by_event", "last_event")]),
        Table(
            name: "locations",
            columns: [.text("name", "NOT NULL"), .text("folder", "NOT NULL"), .integer("opened_at", "NOT NULL")],
            key: ["name", "folder"], since: 27, isOrderedByKey: true),
    ]

    /// - `uploads`: what a job has begun to put into a bucket, from before the first request until the job has succeeded, or until
    ///   nothing of it is left there. So a row can outlive its job. `location` and `key` name the object, and `part` the bytes.
    ///   `upload_id` is NULL before the bucket has created an upload in parts. `part_size` is NULL for an object that is put with one
    ///   request. `is_abandoned`: the job has ended without it. `mark`: what its object has in its metadata; NULL before version 29:
    ///   `part` and `begun_at`. The first `released` bytes are in the bucket only, and `digest_states` are the digests of exactly
    ///   these, as JSON.
    /// - `upload_parts`: the parts that the bucket has. `sha256` is that of their bytes.
    static let uploads: [Table] = [
        Table(
            name: "uploads",
            columns: [
                .text("job", "NOT NULL PRIMARY KEY"), .text("location", "NOT NULL"), .text("object_key", "NOT NULL"),
                .text("part", "NOT NULL"), .text("upload_id"), .integer("part_size", "CHECK (part_size > 0)"),
                .integer("begun_at", "NOT NULL"), .flag("is_abandoned"), .text("mark", since: 29),
                .count("released", "DEFAULT 0", since: 29), .text("digest_states", since: 29),
            ],
            since: 28),
        Table(
            name: "upload_parts",
            columns: [
                .text("job", "NOT NULL REFERENCES uploads (job) ON DELETE CASCADE"),
                .integer("number", "NOT NULL CHECK (number BETWEEN 1 AND 10000)"), .text("etag", "NOT NULL"),
                .text("sha256", "NOT NULL CHECK (length(sha256) = 64)"),
            ],
            key: ["job", "number"], since: 28, isOrderedByKey: true),
    ]

    /// - `tokens.digest`: the SHA-256 of the secret, and `former_digest` that of the previous secret while it is still
    ///   accepted. `sessions` is a JSON array of patterns; NULL: all sessions. `locations` is a JSON array of names; NULL: all.
    /// - `token_bytes`: the bytes that the jobs of a token have received on a day (UTC), as the number of days since 1970.
    /// - `audit`: refusals and administrative changes. `caller` is the identifier of a token, or NULL. Equal refusals of a
    ///   minute share a row. `change`: the value before and the value after, for a change of a setting.
    static let callers: [Table] = [
        Table(
            name: "tokens",
            columns: [
                .text("id", "NOT NULL PRIMARY KEY"), .bytes("digest", "NOT NULL UNIQUE CHECK (length(digest) = 32)"),
                .bytes("former_digest", "UNIQUE CHECK (length(former_digest) = 32)"), .integer("former_until"),
                .text("name"), .text("scope", "NOT NULL CHECK (scope IN ('read', 'jobs', 'sessions', 'admin'))"),
                .text("sessions"), .text("quotas"), .integer("created_at", "NOT NULL"), .integer("expires_at"),
                .integer("last_used_at"), .text("locations", since: 27),
            ],
            constraints: [
                "CHECK ((former_digest IS NULL) = (former_until IS NULL))",
                "CHECK (scope <> 'admin' OR sessions IS NULL)",
            ]),
        Table(
            name: "token_bytes", columns: [.text("token", "NOT NULL"), .integer("day", "NOT NULL"), .count("bytes")],
            key: ["token", "day"],
            isOrderedByKey: true),
        Table(
            name: "audit",
            columns: [
                Column("id", .serial), .integer("time", "NOT NULL"), .text("caller"), .text("name"),
                .text("address", "NOT NULL"), .text("action", "NOT NULL"), .text("target"),
                .text("outcome", "NOT NULL"), .text("reason"),
                .integer("count", "NOT NULL DEFAULT 1 CHECK (count >= 1)"), .text("change"),
            ],
            indexes: [Index("audit_by_time", "time")]),
        idempotencyKeys,
    ]

    /// The first answers to requests with an `Idempotency-Key`.
    static let idempotencyKeys = Table(
        name: "idempotency_keys",
        columns: [
            .text("caller", "NOT NULL"), .text("route", "NOT NULL"), .text("key", "NOT NULL"),
            .bytes("fingerprint", "NOT NULL"), .text("location"), .sealed("answer", "NOT NULL", .bytes),
            .moved("created_at", "NOT NULL", by: .always),
        ],
        key: ["caller", "route", "key"],
        indexes: [Index("idempotency_keys_by_age", "created_at")],
        sealedBy: ["caller", "route", "key"])

    /// The tables of the nodes that share a PostgreSQL database.
    ///
    /// - `nodes`: the services. `expires_at` is the end of the lease by the server's clock; NULL: the node has stopped, or
    ///   others have taken over its work. When `epoch` is raised, the process with the former epoch is not the node any more.
    ///   `place`, `machine` and `folder`: where the process runs (`NodePlace`).
    /// - `last_commits`: the last group commit of each node, so that a node that has lost its connection finds whether it was
    ///   stored.
    /// - `node_commands`: what a node should do with a job that runs on it. `stop` is NULL if the specification of the job
    ///   has changed.
    /// - `additional_connections`: the connections of each node besides the first one of each running job.
    /// - `webhook_leases`: the node that posts to a webhook with pending deliveries.
    /// - `node_progress`: of the running jobs, about a second old.
    /// - `file_deletions`: part files and finished files in the folder of another node, which removes them.
    /// - `commit_notices`: the notices of the last commits, for the nodes that write next (`PostgresGroup`).
    /// - `journal_gaps`: no event after `last_event` and before `next_event` exists. `commits` is the position of the journal then.
    static let nodeTables: [Table] = [
        Table(
            name: "nodes",
            columns: [
                Column("number", .serial), .text("id", "NOT NULL UNIQUE"),
                .integer("epoch", "NOT NULL CHECK (epoch >= 1)"), .text("url"), .text("version", "NOT NULL"),
                .text("downloads", "NOT NULL CHECK (downloads IN ('local', 'shared'))"), .count("slots"),
                .flag("is_draining"), .integer("started_at", "NOT NULL"), .integer("expires_at"),
                .text("place", since: 20), .text("machine", since: 20), .text("folder", since: 20),
            ],
            since: 19, isOfPostgres: true, storage: "fillfactor = 50"),
        Table(
            name: "last_commits",
            columns: [.integer("node", "NOT NULL PRIMARY KEY"), .text("id", "NOT NULL")],
            since: 19, isOfPostgres: true, storage: "fillfactor = 50"),
        Table(
            name: "node_commands",
            columns: [
                .text("job", "NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE"),
                .integer("node", "NOT NULL"), .text("stop"),
            ],
            since: 19, formerName: "attempt_requests", isOfPostgres: true),
        Table(
            name: "additional_connections",
            columns: [
                .integer("node", "NOT NULL"), .text("session", "NOT NULL"), .text("host", "NOT NULL"),
                .integer("count", "NOT NULL CHECK (count >= 1)"),
            ],
            key: ["node", "session", "host"], since: 19, isOfPostgres: true),
        Table(
            name: "webhook_leases",
            columns: [
                .integer("webhook", "NOT NULL PRIMARY KEY REFERENCES webhooks (key) ON DELETE CASCADE"),
                .integer("node", "NOT NULL"),
            ],
            since: 19, isOfPostgres: true),
        Table(
            name: "node_progress",
            columns: [
                .text("job", "NOT NULL PRIMARY KEY"), .integer("node", "NOT NULL"), .text("session", "NOT NULL"),
                .text("report", "NOT NULL"), .integer("at", "NOT NULL"),
            ],
            since: 19, formerName: "progress", isOfPostgres: true, storage: "fillfactor = 50", isDurable: false),
        Table(
            name: "file_deletions",
            columns: [
                .integer("node", "NOT NULL"), .text("kind", "NOT NULL CHECK (kind IN ('part', 'file'))"),
                .text("name", "NOT NULL"),
            ],
            key: ["node", "kind", "name"], since: 19, formerName: "removals", isOfPostgres: true),
        Table(
            name: "commit_notices",
            columns: [.integer("position", "NOT NULL PRIMARY KEY"), .text("notice", "NOT NULL")],
            since: 20, isOfPostgres: true, isDurable: false),
        Table(
            name: "journal_gaps",
            columns: [
                .integer("next_event", "NOT NULL PRIMARY KEY"), .integer("last_event", "NOT NULL"),
                .integer("commits", "NOT NULL"), .integer("made_at", "NOT NULL"),
            ],
            constraints: ["CHECK (next_event > last_event)"], since: 20, isOfPostgres: true),
    ]
}
