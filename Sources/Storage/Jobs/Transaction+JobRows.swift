import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads and writes jobs. A job is written as the difference between its stored version and the new one.
extension Transaction {
    /// - Throws: `noSuchJob`.
    func job(_ id: JobID) throws -> Job {
        if let known = working.jobs[id] { return known }
        guard let job = try JobRow.job(id, in: db, sealer) else { throw StoreError.noSuchJob(id) }
        working.jobs.note(job, for: id)
        return job
    }

    /// Reads the jobs that the writer does not know, so that each of them costs no round trip. On SQLite there are none.
    func prefetch(_ ids: some Sequence<JobID>) throws {
        guard db.isPostgres else { return }
        var rest = ids.filter { working.jobs[$0] == nil }[...]
        while let last = rest.last, rest.count > 1 {
            let chunk = rest.prefix(Self.prefetched)
            rest = rest.dropFirst(Self.prefetched)
            // The statement has the same text for each number of jobs.
            let padding = Array(repeating: last, count: Self.prefetched - chunk.count)
            _ = try jobs(Self.prefetch, SQLArguments((chunk + padding).map(\.text)))
        }
    }

    private static let prefetched = 32
    private static let prefetch =
        JobRow.select + "WHERE jobs.id IN (\(Array(repeating: "?", count: prefetched).joined(separator: ", ")))"

    /// Reads jobs with a query that begins with `JobRow.select`.
    func jobs(_ sql: String, _ arguments: SQLArguments = []) throws -> [Job] {
        let jobs = try db.map(sql, arguments) { try JobRow.job($0, sealer) }
        for job in jobs { working.jobs.note(job, for: job.id) }
        return jobs
    }

    /// The jobs that exist, in the order of the identifiers.
    func jobs(_ ids: [JobID]) throws -> [Job] {
        let read = try JobRow.jobs(ids.filter { working.jobs[$0] == nil }, in: db, sealer)
        for (id, job) in read { working.jobs.note(job, for: id) }
        return ids.compactMap { working.jobs[$0] }
    }

    /// Writes what differs from the stored version: the columns, the specification and the part.
    func save(_ job: Job) throws {
        let stored = try self.job(job.id)
        let job = job.roundedToMilliseconds
        guard job != stored else { return }
        var change = RowChange()
        try change.compare(job, with: stored, sealer)
        if job.spec != stored.spec { try change.writeSpec(of: job, sealer) }
        if job.mayBeHeld(unlike: stored) { change.write("held_until", heldUntil(job)?.milliseconds) }
        try update("jobs", change, where: "id", is: job.id.text)
        try savePart(of: job, replacing: stored.part)
        try count(stored, job)
        touch(job.id)
        working.jobs.note(job, for: job.id)
        wakeDeadlines(job)
    }

    func delete(_ job: Job) throws {
        try run("DELETE FROM jobs WHERE id = ?", [job.id.text])
        if let part = job.part { try dropFile(of: part.id) }
        try count(job, nil)
        forget(job.id)
    }

    /// `not_before` of a queued job while it is in the future, else nil: nothing reads it for other jobs. A doubt about the clock
    /// does not hold a job that has begun before.
    func heldUntil(_ job: Job) -> Date? {
        guard job.state.name == .queued, let moment = job.spec.notBefore else { return nil }
        let hasCome =
            job.startedAt == nil ? confidence.hasCome(moment, namedAt: job.createdAt, at: now) : moment <= now
        return hasCome ? nil : moment
    }

    /// Wakes the deadline worker if the job fails before the worker's next regular pass.
    func wakeDeadlines(_ job: Job) {
        if let failsAt = job.failsAt, failsAt.timeIntervalSince(now) < Store.longestPollInterval { wake(.deadlines) }
    }
}

extension RowChange {
    /// Every column that can change, except the specification and the part.
    mutating func compare(_ job: Job, with stored: Job, _ sealer: Sealer) throws {
        set("batch", from: stored.batch, to: job.batch)
        set("revision", from: stored.revision, to: job.revision)
        set("mirror", from: stored.mirror, to: job.mirror)
        set("queue_rank", from: stored.queueRank?.text, to: job.queueRank?.text)
        set("node", from: stored.node, to: job.node)
        if job.url != stored.url { write("host", URLRule.hostAndPort(of: job.url)) }
        try compareStates(job, with: stored, sealer)
        set("attempts", from: stored.attempts, to: job.attempts)
        set("admissions", from: stored.admissions, to: job.admissions)
        set("failures_in_a_row", from: stored.failuresInARow, to: job.failuresInARow)
        if job.resume != stored.resume {
            let resume = ResumeColumns(job.resume)
            write("resume_decision", resume.decision)
            write("resume_offset", resume.offset)
            write("resume_why", resume.why)
        }
        set("started_at", from: stored.startedAt?.milliseconds, to: job.startedAt?.milliseconds)
        set("finished_at", from: stored.finishedAt?.milliseconds, to: job.finishedAt?.milliseconds)
        set("fails_at", from: stored.failsAt?.milliseconds, to: job.failsAt?.milliseconds)
        set(
            "resource_until", from: stored.resourceTime?.end?.milliseconds, to: job.resourceTime?.end?.milliseconds)
        set(
            "resource_left", from: stored.resourceTime?.leftMilliseconds, to: job.resourceTime?.leftMilliseconds)
        set("part_lost", from: stored.isPartLost, to: job.isPartLost)
        set("sync_failed", from: stored.hasSyncFailed, to: job.hasSyncFailed)
        set("disproved", from: stored.isDisproved, to: job.isDisproved)
    }

    private mutating func compareStates(_ job: Job, with stored: Job, _ sealer: Sealer) throws {
        guard job.state != stored.state else { return }
        let (state, before) = (job.state, stored.state)
        set("state", from: before.name.rawValue, to: state.name.rawValue)
        set("reason", from: before.wait?.name.rawValue, to: state.wait?.name.rawValue)
        set("retry_at", from: before.wait?.until?.milliseconds, to: state.wait?.until?.milliseconds)
        set("file_size", from: before.finish?.file.size, to: state.finish?.file.size)
        let failure = state.failure ?? state.wait?.cause
        if failure != before.failure ?? before.wait?.cause { write("failure", try failure.map(Stored.text)) }
        if state.promotion != before.promotion {
            write("promotion", state.promotion.map { sealer.text($0, of: job.id) })
        }
        if state.finish != before.finish { write("finish", state.finish.map { sealer.text($0, of: job.id) }) }
    }

    fileprivate mutating func writeSpec(of job: Job, _ sealer: Sealer) throws {
        write("spec", try sealer.text(job.spec, of: job.id))
        write("priority", job.rank)
        write("deadline", job.spec.deadline?.milliseconds)
    }
}

private struct ResumeColumns {
    var decision: String?
    var offset: Int64?
    var why: String?

    init(_ outcome: ResumeOutcome?) {
        switch outcome {
        case nil: break
        case .fresh?: decision = "fresh"
        case .resumed(let at, let reason)?: (decision, offset, why) = ("resumed", at, reason?.rawValue)
        case .restarted(let reason)?: (decision, why) = ("restarted", reason.rawValue)
        }
    }
}

extension Job {
    var rank: Int { (spec.priority ?? .normal).rank }

    /// Whether `held_until` can differ from that of the stored version. Most jobs are never held, and a change of them names
    /// no column of its index.
    fileprivate func mayBeHeld(unlike stored: Job) -> Bool {
        let isQueued = state.name == .queued
        return spec.notBefore != stored.spec.notBefore
            || spec.notBefore != nil && isQueued != (stored.state.name == .queued)
    }
}
