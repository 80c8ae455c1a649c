import Downloads
import Formats
import Foundation

extension Store {
    public func finishDueBatches() async throws -> [Batch] {
        try await writer.write { transaction in
            try transaction.rows(
                BatchRow.select + "WHERE state = 'due' AND due_at <= ? ORDER BY due_at", [transaction.now.milliseconds]
            ).map { try transaction.finish(BatchRow.batch($0)) }
        }
    }

    /// The earliest due time of all batches; nil when no batch has a due time.
    public func nextBatchDue() async throws(StoreError) -> Date? {
        try await read { try $0.time("SELECT min(due_at) FROM batches WHERE state = 'due'") }
    }
}

extension Transaction {
    /// Adds jobs to the current batch of the session, or begins one. Returns the number of the batch.
    func joinBatch(_ session: Name, adding jobs: Int = 1) throws -> Int {
        var batch = try currentBatch(session) ?? beginBatch(session)
        for _ in 0..<jobs { batch = batch.transition(on: .jobJoined) ?? batch }
        try update(batch)
        return batch.number
    }

    func rejoinBatch(_ job: Job, _ ending: BatchSignal.Ending) throws -> Int {
        guard let current = try currentBatch(job.session), current.number == job.batch,
            let joined = current.transition(on: .jobRejoined(ending))
        else { return try joinBatch(job.session) }
        try update(joined)
        return joined.number
    }

    /// - Returns: whether the current batch of the session has changed, in memory only: `update(_:)` writes it.
    func leaveBatch(_ job: Job, _ ending: BatchSignal.Ending) throws -> Bool {
        let due = now.addingTimeInterval(try session(job.session).finishDelay)
        guard let batch = try batch(job.batch, of: job.session)?.transition(on: .jobEnded(ending, due: due)) else {
            return false
        }
        if case .due = batch.state { wake(.batches) }
        if try currentBatch(job.session)?.number == batch.number {
            note(batch)
            return true
        }
        try update(batch)
        return false
    }

    /// Makes the due batch finish at once, because the session accepts no more jobs.
    func expediteBatch(_ session: Name) throws {
        guard let batch = try currentBatch(session)?.transition(on: .sessionInvalidated(at: now)) else { return }
        try update(batch)
        wake(.batches)
    }

    func update(_ batch: Batch, isAwaited: Bool = true) throws {
        let (due, finish) = BatchRow.columns(batch.state)
        try run(
            """
            UPDATE batches SET state = ?, outstanding = ?, succeeded = ?, failed = ?, cancelled = ?, due_at = ?,
                finish_event = ?, finished_at = CASE WHEN ? = 'finished' THEN ? ELSE finished_at END, is_awaited = ?,
                imports = ?
            WHERE session = ? AND number = ?
            """,
            [
                batch.state.name.rawValue, batch.counts.outstanding, batch.counts.succeeded, batch.counts.failed,
                batch.counts.cancelled, due?.milliseconds, finish, batch.state.name.rawValue,
                now.milliseconds, isAwaited, batch.imports, batch.session.text, batch.number,
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

    fileprivate func finish(_ batch: Batch) throws -> Batch {
        let last = try db.value("SELECT max(id) FROM events WHERE session = ?", [batch.session.text], as: EventID.self)
        let failures = try jobs(Self.failures, [batch.session.text, batch.number, Batch.mostFailures])
        let data = batch.announcement(lastEvent: last ?? 0, failures: failures.map { ($0.id, $0.state.failure) })
        let event = try append([NewEvent(.sessionFinished, in: batch.session, data: data)])[0]
        guard let finished = batch.transition(on: .delayElapsed(finish: event)) else { return batch }
        let isAwaited = try session(batch.session).expectsAcknowledgement
        try update(finished, isAwaited: isAwaited)
        if isAwaited { countFinishes(1) }
        wake(.sessions)
        return finished
    }

    static let failures =
        JobRow.select + "WHERE jobs.session = ? AND jobs.batch = ? AND jobs.state = 'failed' ORDER BY jobs.id LIMIT ?"

    /// Acknowledges the batch when each webhook that got its finish has accepted it.
    func acknowledgeFinish(_ event: EventID) throws {
        let open = try row("SELECT 1 FROM deliveries WHERE event = ? AND is_accepted = 0 LIMIT 1", [event])
        if open == nil, let row = try row(BatchRow.ofFinish, [event]) { try acknowledge(row) }
    }

    func currentBatch(_ session: Name) throws -> Batch? {
        if let known = working.currentBatches[session] { return known }
        let batch = try row(BatchRow.select + "WHERE session = ? AND state IN ('open', 'due')", [session.text])
            .map(BatchRow.batch)
        if let batch { working.currentBatches.note(batch, for: session) }
        return batch
    }

    func batch(_ number: Int, of session: Name) throws -> Batch? {
        if let current = try currentBatch(session), current.number == number { return current }
        return try row(BatchRow.select + "WHERE session = ? AND number = ?", [session.text, number]).map(BatchRow.batch)
    }

    /// Includes batches that a restore has removed.
    private static let lastBatchNumber = """
        SELECT max(number) AS number FROM (
            SELECT max(number) AS number FROM batches WHERE session = ?1
            UNION ALL SELECT number FROM given_batches WHERE session = ?1) AS numbers
        """

    private func beginBatch(_ session: Name) throws -> Batch {
        let number = try (db.value(Self.lastBatchNumber, [session.text], as: Int.self) ?? 0) + 1
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

enum BatchRow {
    static let select = "SELECT * FROM batches "
    static let ofFinish = select + "WHERE finish_event = ?"

    static func batch(_ row: SQLRow) throws -> Batch {
        var batch = try Batch(
            session: Name(trusted: row["session"]), number: row["number"], state: try state(row),
            counts: Batch.Counts(
                outstanding: row["outstanding"], succeeded: row["succeeded"], failed: row["failed"],
                cancelled: row["cancelled"]), firstEvent: row["first_event"])
        batch.imports = try row["imports"]
        return batch
    }

    static func columns(_ state: Batch.State) -> (due: Date?, finish: EventID?) {
        switch state {
        case .open: (nil, nil)
        case .due(let due): (due, nil)
        case .finished(let event), .acknowledged(let event): (nil, event)
        }
    }

    private static func state(_ row: SQLRow) throws -> Batch.State {
        switch try row.named("state", as: Batch.State.Kind.self) {
        case .open: .open
        case .due: try .due(row.time("due_at"))
        case .finished: try .finished(row["finish_event"])
        case .acknowledged: try .acknowledged(row["finish_event"])
        }
    }
}

/// Appends `session.waiting` once when every outstanding job of a session is blocked: it waits for credentials or a URL
/// from the client. The event is appended again only after some job was queued.
extension Transaction {
    /// Called when the session is blocked.
    func announceWaiting(of session: Name) throws {
        let begins = "UPDATE sessions SET waits_for_help = 1 WHERE id = ? AND waits_for_help = 0"
        guard try changedRows(begins, [session.text]) == 1 else { return }
        try append([NewEvent(.sessionWaiting, in: session, data: waitingAnnouncement(of: session))])
    }

    /// Called after a job was queued.
    func clearWaiting(of session: Name) throws {
        try run("UPDATE sessions SET waits_for_help = 0 WHERE id = ? AND waits_for_help = 1", [session.text])
    }

    /// Asked after a job has blocked or ended: it may have been the last job that could run.
    func isBlocked(_ session: Name) throws -> Bool {
        let blocked = try blockedJobs(of: session)
        guard blocked > 0 else { return false }
        return try currentBatch(session)?.counts.outstanding == blocked
    }

    /// The number of jobs that wait for help of the client.
    func blockedJobs(of session: Name) throws -> Int {
        if let known = working.blockedJobs[session] { return known }
        let count = "SELECT count(*) FROM jobs WHERE session = ? AND reason IN ('credentials', 'url')"
        let blocked = try db.value(count, [session.text], as: Int.self) ?? 0
        working.blockedJobs.note(blocked, for: session)
        return blocked
    }

    private func waitingAnnouncement(of session: Name) throws -> JSONObject {
        let counts = try rows(
            "SELECT reason, count(*) AS n FROM jobs WHERE session = ? AND reason IN ('credentials', 'url') GROUP BY reason",
            [session.text])
        let jobs = try jobs(
            JobRow.select + "WHERE jobs.session = ? AND jobs.reason IN ('credentials', 'url') ORDER BY jobs.id LIMIT ?",
            [session.text, Session.mostJobsAnnounced])
        return Session.waitingAnnouncement(
            try Dictionary(
                uniqueKeysWithValues: counts.map { try ($0.named("reason", as: Wait.Kind.self), $0["n"]) }),
            jobs: jobs.compactMap { job in job.state.wait.map { (job.id, $0) } })
    }
}
