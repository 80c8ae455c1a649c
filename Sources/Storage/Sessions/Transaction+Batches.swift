import Downloads
import Formats
import Foundation

/// Writes batches as their state machine decides.
extension Transaction {
    /// Adds jobs to the current batch of the session, or begins one. Returns the number of the batch.
    func joinBatch(_ session: Name, adding jobs: Int = 1) throws -> Int {
        var batch = try currentBatch(session) ?? beginBatch(session)
        for _ in 0..<jobs { batch = batch.after(.jobJoined) ?? batch }
        try update(batch)
        return batch.number
    }

    /// Adds a job that had ended to a batch again.
    func rejoinBatch(_ job: Job, _ ending: BatchSignal.Ending) throws -> Int {
        guard let current = try currentBatch(job.session), current.number == job.batch,
            let joined = current.after(.jobRejoined(ending))
        else { return try joinBatch(job.session) }
        try update(joined)
        return joined.number
    }

    func leaveBatch(_ job: Job, _ ending: BatchSignal.Ending) throws {
        let due = now.addingTimeInterval(try session(job.session).finishDelay)
        guard let batch = try batch(job.batch, of: job.session)?.after(.jobEnded(ending, due: due)) else { return }
        try update(batch)
        if case .due = batch.state { wake(.batches) }
    }

    /// Makes the due batch finish at once, because the session accepts no more jobs.
    func expediteBatch(_ session: Name) throws {
        guard let batch = try currentBatch(session)?.after(.sessionInvalidated(at: now)) else { return }
        try update(batch)
        wake(.batches)
    }

    /// - Parameter isAwaited: whether the acknowledgement of a finished batch is awaited.
    func update(_ batch: Batch, isAwaited: Bool = true) throws {
        let (due, finish) = BatchRow.columns(batch.state)
        try run(
            """
            UPDATE batches SET state = ?, outstanding = ?, succeeded = ?, failed = ?, cancelled = ?, due_at = ?,
                finish_event = ?, finished_at = CASE WHEN ? = 'finished' THEN ? ELSE finished_at END, is_awaited = ?
            WHERE session = ? AND number = ?
            """,
            [
                batch.state.name.rawValue, batch.counts.outstanding, batch.counts.succeeded, batch.counts.failed,
                batch.counts.cancelled, due?.milliseconds, finish, batch.state.name.rawValue,
                now.milliseconds, isAwaited, batch.session.text, batch.number,
            ])
        note(batch)
    }

    private func note(_ batch: Batch) {
        switch batch.state {
        case .open, .due: working.currentBatches.note(batch, for: batch.session)
        case .finished, .acknowledged:
            if working.currentBatches[batch.session]?.number == batch.number {
                working.currentBatches.forget(batch.session)
            }
        }
    }

    /// Appends `session.finished` for each due batch, with a delivery for each webhook that wants it.
    func finishDueBatches() throws -> [Batch] {
        try rows(BatchRow.select + "WHERE state = 'due' AND due_at <= ? ORDER BY due_at", [now.milliseconds])
            .map { try finish(BatchRow.batch($0)) }
    }

    private func finish(_ batch: Batch) throws -> Batch {
        let last = try row("SELECT max(id) AS id FROM events WHERE session = ?", [batch.session.text])
        let data = batch.announcement(
            lastEvent: last?["id"] ?? 0, failures: try failures(of: batch).map { ($0.id, $0.state.failure) })
        let event = try append(.sessionFinished, session: batch.session, job: nil, data: data)
        guard let finished = batch.after(.delayElapsed(finish: event)) else { return batch }
        let isAwaited = try session(batch.session).expectsAcknowledgement
        try update(finished, isAwaited: isAwaited)
        if isAwaited { countFinishes(1) }
        wake(.sessions)
        return finished
    }

    private func failures(of batch: Batch) throws -> [Job] {
        try jobs(Self.failures, [batch.session.text, batch.number, Batch.mostFailures])
    }

    static let failures =
        JobRow.select + "WHERE jobs.session = ? AND jobs.batch = ? AND jobs.state = 'failed' ORDER BY jobs.id LIMIT ?"

    /// Acknowledges the batch when each webhook that got its finish has accepted it.
    func acknowledgeFinish(_ event: EventID) throws {
        let open = try row(
            "SELECT count(*) AS n FROM deliveries WHERE event = ? AND is_accepted = 0", [event])
        if open?["n"] == 0, let row = try row(BatchRow.ofFinish, [event]) { try acknowledge(row) }
    }

    func currentBatch(_ session: Name) throws -> Batch? {
        if let known = working.currentBatches[session] { return known }
        let batch = try row(BatchRow.select + "WHERE session = ? AND state IN ('open', 'due')", [session.text])
            .map(BatchRow.batch)
        if let batch { working.currentBatches.note(batch, for: session) }
        return batch
    }

    private func batch(_ number: Int, of session: Name) throws -> Batch? {
        if let current = try currentBatch(session), current.number == number { return current }
        return try row(BatchRow.select + "WHERE session = ? AND number = ?", [session.text, number])
            .map(BatchRow.batch)
    }

    /// Includes batches that a restore has removed.
    private static let lastBatchNumber = """
        SELECT max(number) AS number FROM (
            SELECT max(number) AS number FROM batches WHERE session = ?1
            UNION ALL SELECT number FROM given_batches WHERE session = ?1) AS numbers
        """

    private func beginBatch(_ session: Name) throws -> Batch {
        let last = try row(Self.lastBatchNumber, [session.text])
        let number = (last?["number"] as Int? ?? 0) + 1
        // Only this writer appends events, so the next event of the session is the first of the batch.
        let batch = Batch(session: session, number: number, firstEvent: try lastEvent() + 1)
        try run(
            """
            INSERT INTO batches (session, number, state, outstanding, succeeded, failed, cancelled, first_event)
            VALUES (?, ?, 'open', 0, 0, 0, 0, ?)
            """, [session.text, number, batch.firstEvent])
        note(batch)
        return batch
    }
}
