import Downloads

extension CountChanges {
    /// Writes each changed row, once.
    func write(in db: SQLConnection) throws {
        for (name, changes) in sessions where !changes.isZero { try write(changes, of: name, in: db) }
        if service != ServiceCounts() { try writeService(in: db) }
        for (of, bytes) in tokenBytes {
            try db.run(Self.addBytes, [of.token.text, of.day.number, bytes])
        }
    }

    /// The row has the progress of the latest batch: changes of earlier batches are left out, and a later batch begins at
    /// zero.
    private func write(_ changes: OfSession, of session: Name, in db: SQLConnection) throws {
        var jobs = changes.jobs
        for (batch, progress) in changes.batches.sorted(by: { $0.key < $1.key }) {
            try db.run(
                Self.updateSession,
                [
                    session.text, jobs.queued, jobs.running, jobs.waiting, jobs.paused, jobs.succeeded, jobs.failed,
                    jobs.cancelled, batch, progress.unsized, progress.sized, progress.bytesReceived,
                    progress.bytesExpected,
                ])
            jobs = StateCounts()
        }
    }

    private static let updateSession = """
        UPDATE session_counts SET queued = queued + ?2, running = running + ?3, waiting = waiting + ?4,
            paused = paused + ?5, succeeded = succeeded + ?6, failed = failed + ?7, cancelled = cancelled + ?8,
            batch = CASE WHEN ?9 > batch THEN ?9 ELSE batch END,
            unsized = CASE WHEN ?9 > batch THEN ?10 WHEN ?9 = batch THEN unsized + ?10 ELSE unsized END,
            sized = CASE WHEN ?9 > batch THEN ?11 WHEN ?9 = batch THEN sized + ?11 ELSE sized END,
            received = CASE WHEN ?9 > batch THEN ?12 WHEN ?9 = batch THEN received + ?12 ELSE received END,
            expected = CASE WHEN ?9 > batch THEN ?13 WHEN ?9 = batch THEN expected + ?13 ELSE expected END
        WHERE session = ?1
        """

    private static let addBytes = """
        INSERT INTO token_bytes (token, day, bytes) VALUES (?, ?, ?)
        ON CONFLICT (token, day) DO UPDATE SET bytes = token_bytes.bytes + excluded.bytes
        """

    private func writeService(in db: SQLConnection) throws {
        try db.run(
            Self.updateService,
            [
                service.parts, service.partBytes, service.pendingDeliveries, service.acknowledgedDeliveries,
                service.exhaustedDeliveries, service.cancelledDeliveries, service.unacknowledgedFinishes,
            ])
    }

    private static let updateService = """
        UPDATE service_counts SET parts = parts + ?, part_bytes = part_bytes + ?,
            deliveries_pending = deliveries_pending + ?, deliveries_acknowledged = deliveries_acknowledged + ?,
            deliveries_exhausted = deliveries_exhausted + ?, deliveries_cancelled = deliveries_cancelled + ?,
            finishes_unacknowledged = finishes_unacknowledged + ?
        """
}
