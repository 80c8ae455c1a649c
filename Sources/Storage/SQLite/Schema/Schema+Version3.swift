/// Version 3: the time before which a job is held, the time after which it fails, mirrors, and the expiry of parts. A
/// running countdown is stored as a time, a stopped countdown as the remaining milliseconds.
extension Schema {
    /// The queue has two indexes: one to take the oldest job, one to find a host with a free connection.
    static let moments = """
        ALTER TABLE jobs ADD COLUMN mirror INTEGER NOT NULL DEFAULT 0 CHECK (mirror >= 0);
        ALTER TABLE jobs ADD COLUMN held_until INTEGER;
        ALTER TABLE jobs ADD COLUMN fails_at INTEGER;
        ALTER TABLE jobs ADD COLUMN resource_until INTEGER;
        ALTER TABLE jobs ADD COLUMN resource_left INTEGER;
        ALTER TABLE jobs ADD COLUMN part_lost INTEGER NOT NULL DEFAULT 0 CHECK (part_lost IN (0, 1));
        DROP INDEX jobs_queue;
        CREATE INDEX jobs_queue_by_age ON jobs (priority, session, id, host) WHERE state = 'queued' AND held_until IS NULL;
        CREATE INDEX jobs_queue_by_host ON jobs (priority, session, host, id) WHERE state = 'queued' AND held_until IS NULL;
        CREATE INDEX jobs_held ON jobs (held_until) WHERE held_until IS NOT NULL;
        CREATE INDEX jobs_pressed ON jobs (fails_at) WHERE fails_at IS NOT NULL;

        """

    static let expiry = """
        ALTER TABLE parts ADD COLUMN lifetime INTEGER NOT NULL DEFAULT 604800000 CHECK (lifetime >= 0);
        ALTER TABLE parts ADD COLUMN expires_at INTEGER;
        ALTER TABLE parts ADD COLUMN lifetime_left INTEGER;
        ALTER TABLE parts ADD COLUMN content_type TEXT;
        ALTER TABLE parts ADD COLUMN content_disposition TEXT;
        UPDATE parts SET expires_at = (SELECT created_at FROM jobs WHERE id = job) + lifetime;
        CREATE INDEX parts_expiring ON parts (expires_at) WHERE expires_at IS NOT NULL;

        """
}
