import Downloads

/// Notes how a change changes the kept counts. The writer writes the counts at the end of the group commit.
extension Transaction {
    /// Every function that inserts, updates or deletes a job or its part calls this.
    ///
    /// - Parameters:
    ///   - before: the job as it was stored; nil for a new job.
    ///   - after: the job as it is stored now; nil for a deleted job.
    func count(_ before: Job?, _ after: Job?) throws {
        let (old, new) = (before.map(JobShare.init), after.map(JobShare.init))
        counts.add(from: old, to: new)
        countHeldBytes(old, new)
        if let before { countBlocked(before, -1) }
        if let after { countBlocked(after, 1) }
        if let after { measure(after, since: before) }
    }

    /// Notes how long a job took that has ended with this change.
    private func measure(_ job: Job, since before: Job?) {
        guard let ending = job.state.ending, let finishedAt = job.finishedAt, before?.state.ending == nil else {
            return
        }
        note(ending, after: finishedAt.timeIntervalSince(job.createdAt))
    }

    /// Changes the number of jobs that wait for help, if the writer knows it and the job is one of them.
    private func countBlocked(_ job: Job, _ change: Int) {
        guard case .waiting(let wait) = job.state, wait.name.needsHelp, let known = working.blockedJobs[job.session]
        else { return }
        working.blockedJobs.note(known + change, for: job.session)
    }

    func count(removed job: JobShare) {
        counts.add(from: job, to: nil)
        working.blockedJobs.forget(job.session)
        countHeldBytes(job, nil)
    }

    func count(removedSession session: Name) {
        counts.removeSession(session)
        working.blockedJobs.forget(session)
        working.heldBytes.forget(session)
    }

    func countDeliveries(_ count: Int = 1, from before: Delivery.State.Kind?, to after: Delivery.State.Kind?) {
        if let before { counts.service[deliveries: before] -= count }
        if let after { counts.service[deliveries: after] += count }
    }

    /// A batch has finished, or its finish was acknowledged or removed.
    func countFinishes(_ change: Int) { counts.service.unacknowledgedFinishes += change }
}

/// By how much a transaction, or all kept transactions of a group commit, change the kept counts.
struct CountChanges: Sendable {
    struct OfSession: Sendable {
        var jobs = StateCounts()
        /// By the number of the batch.
        var batches: [Int: BatchProgress] = [:]

        init() {}

        var isZero: Bool { jobs == StateCounts() && batches.values.allSatisfy(\.isZero) }
    }

    private(set) var sessions: [Name: OfSession] = [:]
    /// Sessions whose rows are gone. Later changes are of another session of the same name.
    private var removed: Set<Name> = []
    var service = ServiceCounts()
    /// The bytes that the jobs of tokens have received.
    private(set) var tokenBytes: [BytesOfToken: Int64] = [:]

    struct BytesOfToken: Hashable {
        var token: TokenID
        var day: QuotaDay
    }

    mutating func addBytes(_ bytes: Int64, of token: TokenID, on day: QuotaDay) {
        tokenBytes[BytesOfToken(token: token, day: day), default: 0] += bytes
    }

    /// - Parameters:
    ///   - before: nil for a new job.
    ///   - after: nil for a deleted job.
    mutating func add(from before: JobShare?, to after: JobShare?) {
        if let before {
            sessions[before.session, default: OfSession()].jobs[before.state] -= 1
            sessions[before.session]?.batches[before.batch, default: BatchProgress()] -= before.progress
            if let bytes = before.partBytes { addParts(-1, -bytes) }
        }
        if let after {
            sessions[after.session, default: OfSession()].jobs[after.state] += 1
            sessions[after.session]?.batches[after.batch, default: BatchProgress()] += after.progress
            if let bytes = after.partBytes { addParts(1, bytes) }
        }
    }

    /// Counts new jobs without a part.
    mutating func addNew(queued: Int, paused: Int, to batch: Int, of session: Name) {
        var added = OfSession()
        added.jobs[.queued] = queued
        added.jobs[.paused] = paused
        added.batches[batch] = BatchProgress(unsized: queued + paused)
        add(session, added)
    }

    mutating func removeSession(_ session: Name) {
        sessions[session] = nil
        removed.insert(session)
    }

    mutating func add(_ later: CountChanges) {
        for session in later.removed { removeSession(session) }
        for (name, changes) in later.sessions { add(name, changes) }
        service += later.service
        tokenBytes.merge(later.tokenBytes, uniquingKeysWith: +)
    }

    mutating func add(_ session: Name, _ changes: OfSession) {
        sessions[session, default: OfSession()].jobs += changes.jobs
        for (batch, progress) in changes.batches {
            sessions[session]?.batches[batch, default: BatchProgress()] += progress
        }
    }

    private mutating func addParts(_ count: Int, _ bytes: Int64) {
        service.parts += count
        service.partBytes += bytes
    }
}

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

/// What one job adds to the kept counts.
struct JobShare: Sendable, Equatable {
    var session: Name
    var batch: Int
    var state: JobState.Kind
    /// Of its batch.
    var progress = BatchProgress()
    /// nil when the job has no part.
    var partBytes: Int64?
    /// The bytes that count for `max_total_size` of its session: its finished file; or, while it is outstanding, its part,
    /// whose known size counts as a whole.
    var heldBytes: Int64 = 0

    init(_ job: Job) {
        self.init(
            session: job.session, batch: job.batch, state: job.state.name, fileSize: job.state.finish?.file.size,
            partBytes: job.part?.bytesDurable, partSize: job.part?.size)
    }

    /// - Parameter fileSize: the size of the file of a job that has succeeded.
    init(
        session: Name, batch: Int, state: JobState.Kind, fileSize: Int64?, partBytes: Int64?, partSize: Int64?
    ) {
        self.session = session
        self.batch = batch
        self.state = state
        self.partBytes = partBytes
        switch state {
        case .queued, .running, .waiting, .paused:
            progress = BatchProgress(
                unsized: partSize == nil ? 1 : 0, sized: partSize == nil ? 0 : 1, bytesReceived: partBytes ?? 0,
                bytesExpected: partSize ?? 0)
            heldBytes = max(partBytes ?? 0, partSize ?? 0)
        case .succeeded:
            progress = BatchProgress(sized: 1, bytesReceived: fileSize ?? 0, bytesExpected: fileSize ?? 0)
            heldBytes = fileSize ?? 0
        case .failed, .cancelled: break
        }
    }
}
