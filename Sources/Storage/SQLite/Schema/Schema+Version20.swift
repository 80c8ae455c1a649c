/// Version 20: `held_until` belongs to queued jobs only; changes of sessions, and finishes that nothing can acknowledge.
///
/// Earlier versions kept it in jobs that were paused or cancelled while they were held, and each look for the next job that is due
/// read these jobs.
extension Schema {
    static let heldJobs = """
        UPDATE jobs SET held_until = NULL WHERE held_until IS NOT NULL AND state <> 'queued';

        """

    /// - `sessions.revision`: of the configuration.
    /// - `sessions.has_consumer`: whether something can acknowledge the finishes of the session. A session of an earlier version
    ///   has a consumer if it has a webhook or a delivery, or if a finish or an event of it is acknowledged.
    /// - `sessions.expects_acknowledgement`: whether a finish waits for an acknowledgement. It follows from the configuration and
    ///   `has_consumer`.
    /// - `batches.is_awaited`: whether the acknowledgement of a finished batch is awaited.
    /// - `batches.is_reported`: whether the log has a warning that it is missing.
    static let acknowledgements = """
        ALTER TABLE sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN has_consumer INTEGER NOT NULL DEFAULT 0 CHECK (has_consumer IN (0, 1));
        ALTER TABLE sessions ADD COLUMN expects_acknowledgement INTEGER NOT NULL DEFAULT 0
            CHECK (expects_acknowledgement IN (0, 1));
        ALTER TABLE batches ADD COLUMN is_awaited INTEGER NOT NULL DEFAULT 1 CHECK (is_awaited IN (0, 1));
        ALTER TABLE batches ADD COLUMN is_reported INTEGER NOT NULL DEFAULT 0 CHECK (is_reported IN (0, 1));
        CREATE INDEX batches_awaited ON batches (session, finished_at) WHERE state = 'finished' AND is_awaited = 1;
        CREATE INDEX batches_unreported ON batches (finish_event)
            WHERE state = 'finished' AND is_awaited = 1 AND is_reported = 0;
        \(knownConsumers)
        """

    /// PostgreSQL accepts these statements, too.
    static let knownConsumers = """
        UPDATE sessions SET has_consumer = 1, expects_acknowledgement = 1
            WHERE id IN (SELECT session FROM webhooks) OR id IN (SELECT session FROM deliveries)
                OR EXISTS (SELECT 1 FROM batches WHERE session = sessions.id
                    AND (state = 'acknowledged' OR first_event <= sessions.acknowledged_through));
        UPDATE batches SET is_awaited = 0 WHERE state = 'finished'
            AND session IN (SELECT id FROM sessions WHERE has_consumer = 0);
        UPDATE service_counts SET finishes_unacknowledged = (
            SELECT count(*) FROM batches WHERE state = 'finished' AND is_awaited = 1);

        """
}
