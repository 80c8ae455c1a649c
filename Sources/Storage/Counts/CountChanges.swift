import Downloads

extension Transaction {
    /// Every function that inserts, updates or deletes a job or its part calls this.
    /// A new job has no version before, and a deleted one none after.
    func count(_ before: Job?, _ after: Job?) throws {
        let (old, new) = (before.map(JobShare.init), after.map(JobShare.init))
        counts.add(from: old, to: new)
        countHeldBytes(old, new)
        if let before { countBlocked(before, -1) }
        if let after { countBlocked(after, 1) }
        if let after { measure(after, since: before) }
    }

    private func measure(_ job: Job, since before: Job?) {
        guard let ending = job.state.ending, let finishedAt = job.finishedAt, before?.state.ending == nil else {
            return
        }
        note(ending, after: finishedAt.timeIntervalSince(job.createdAt))
    }

    /// Changes the number of jobs that wait for help, if the writer knows it and the job is one of them.
    private func countBlocked(_ job: Job, _ change: Int) {
        guard case .waiting(let wait) = job.state, wait.name.needsInput, let known = working.blockedJobs[job.session]
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
        if let before { counts.service[.deliveries(before)] -= count }
        if let after { counts.service[.deliveries(after)] += count }
    }

    /// A batch has finished, or its finish was acknowledged or removed.
    func countFinishes(_ change: Int) { counts.service[.unacknowledgedFinishes] += change }
}

/// By how much a transaction, or all kept transactions of a group commit, change the kept counts.
struct CountChanges: Sendable {
    struct OfSession: Sendable {
        var jobs = Counts<JobState.Kind>()
        /// By the number of the batch.
        var batches: [Int: BatchProgress] = [:]

        var isZero: Bool { jobs.isZero && batches.values.allSatisfy(\.isZero) }
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

    mutating func add(from before: JobShare?, to after: JobShare?) {
        if let before {
            sessions[before.session, default: OfSession()].jobs[before.state] -= 1
            sessions[before.session]?.batches[before.batch, default: BatchProgress()] -= before.progress
            addPart(before.partBytes, -1)
        }
        if let after {
            sessions[after.session, default: OfSession()].jobs[after.state] += 1
            sessions[after.session]?.batches[after.batch, default: BatchProgress()] += after.progress
            addPart(after.partBytes, 1)
        }
    }

    mutating func addNew(queued: Int, paused: Int, to batch: Int, of session: Name) {
        var added = OfSession(batches: [batch: BatchProgress(unsized: queued + paused)])
        added.jobs[.queued] = queued
        added.jobs[.paused] = paused
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

    /// - Parameter bytes: nil: the job has no part.
    private mutating func addPart(_ bytes: Int64?, _ sign: Int) {
        guard let bytes else { return }
        service[.parts] += sign
        service[.partBytes] += sign * Int(bytes)
    }
}

extension CountChanges {
    /// Writes each changed row, once.
    func write(in db: SQLConnection) throws {
        for (name, changes) in sessions where !changes.isZero { try write(changes, of: name, in: db) }
        if !service.isZero { try db.run(Self.updateService, SQLArguments(service.values)) }
        for (of, bytes) in tokenBytes { try db.run(Self.addBytes, [of.token.text, of.day.number, bytes]) }
    }

    /// The row has the progress of the latest batch: changes of earlier batches are left out, and a later batch begins at
    /// zero.
    private func write(_ changes: OfSession, of session: Name, in db: SQLConnection) throws {
        var jobs = changes.jobs
        for (batch, progress) in changes.batches.sorted(by: { $0.key < $1.key }) {
            try db.run(Self.updateSession, SQLArguments([session.text, batch] + jobs.values + progress.values))
            jobs = Counts()
        }
    }

    private static let updateSession: String = {
        let first = 3
        let states = Counts<JobState.Kind>.names.enumerated().map { "\($1) = \($1) + ?\(first + $0)" }
        let progress = BatchProgress.names.enumerated().map { index, name in
            let (change, sum) = ("?\(first + states.count + index)", "\(name) + ?\(first + states.count + index)")
            return "\(name) = CASE WHEN ?2 > batch THEN \(change) WHEN ?2 = batch THEN \(sum) ELSE \(name) END"
        }
        return """
            UPDATE session_counts SET batch = CASE WHEN ?2 > batch THEN ?2 ELSE batch END,
                \((states + progress).joined(separator: ", "))
            WHERE session = ?1
            """
    }()

    private static let updateService =
        "UPDATE service_counts SET " + ServiceCounts.names.map { "\($0) = \($0) + ?" }.joined(separator: ", ")

    private static let addBytes = """
        INSERT INTO token_bytes (token, day, bytes) VALUES (?, ?, ?)
        ON CONFLICT (token, day) DO UPDATE SET bytes = token_bytes.bytes + excluded.bytes
        """
}

/// What one job adds to the kept counts.
struct JobShare: Sendable, Equatable {
    var session: Name
    var batch: Int
    var state: JobState.Kind
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

    init(session: Name, batch: Int, state: JobState.Kind, fileSize: Int64?, partBytes: Int64?, partSize: Int64?) {
        self.session = session
        self.batch = batch
        self.state = state
        self.partBytes = partBytes
        switch state {
        case .queued, .running, .waiting, .paused:
            progress = BatchProgress(
                unsized: partSize == nil ? 1 : 0, sized: partSize == nil ? 0 : 1, received: partBytes ?? 0,
                expected: partSize ?? 0)
            heldBytes = max(partBytes ?? 0, partSize ?? 0)
        case .succeeded:
            progress = BatchProgress(sized: 1, received: fileSize ?? 0, expected: fileSize ?? 0)
            heldBytes = fileSize ?? 0
        case .failed, .cancelled: break
        }
    }
}
