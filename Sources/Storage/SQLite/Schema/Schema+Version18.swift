/// Version 18: the place in the queue that a client has moved a job to, and the identifier in aria2's RPC.
extension Schema {
    /// `queue_rank` is NULL for a job that was never moved: its identifier is its rank. Such jobs stay in the indexes of the
    /// queue, which do not become larger. Moved jobs are few and have their own indexes. `jobs_moved` finds the neighbours of
    /// a place in any state.
    static let queueRanks = """
        ALTER TABLE jobs ADD COLUMN queue_rank TEXT;
        ALTER TABLE jobs ADD COLUMN gid TEXT;
        DROP INDEX jobs_queue_by_age;
        DROP INDEX jobs_queue_by_host;
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
}
