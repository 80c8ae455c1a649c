import Downloads
import Formats
import Foundation
import GRDB
import HTTPSemantics

extension Transaction {
    func job(_ id: JobID) throws -> Job {
        guard let job = try JobRow.job(id, in: db) else { throw StoreError.noSuchJob(id) }
        return job
    }

    func insert(_ job: Job) throws {
        try run(
            """
            INSERT INTO jobs (id, session, batch, state, revision, spec, priority, host, held_until, deadline, fails_at,
                created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                job.id.text, job.session.text, job.batch, job.state.name.rawValue, job.revision,
                try Stored.text(job.spec), (job.spec.priority ?? .normal).rank, URLRule.hostAndPort(of: job.url),
                job.heldUntil(after: now, confidence)?.milliseconds, job.spec.deadline?.milliseconds,
                job.failsAt?.milliseconds, job.createdAt.milliseconds,
            ])
        count(nil, job)
        wakeDeadlines(job)
        for tag in job.spec.tags {
            try run(
                "INSERT INTO job_tags (tag, session, job) VALUES (?, ?, ?)", [tag, job.session.text, job.id.text])
        }
    }

    /// Writes the part of the job that clients may change.
    func updateSpec(_ job: Job) throws {
        try run(
            "UPDATE jobs SET spec = ?, priority = ?, host = ?, mirror = ?, held_until = ?, deadline = ? WHERE id = ?",
            [
                try Stored.text(job.spec), (job.spec.priority ?? .normal).rank, URLRule.hostAndPort(of: job.url),
                job.mirror, job.heldUntil(after: now, confidence)?.milliseconds, job.spec.deadline?.milliseconds,
                job.id.text,
            ])
        touch(job.id)
    }

    /// Wakes the deadline worker for a limit that comes before its next regular look.
    func wakeDeadlines(_ job: Job) {
        if let failsAt = job.failsAt, failsAt.timeIntervalSince(now) < Store.longestPollInterval { wake(.deadlines) }
    }

    /// Writes every column of the job that can change, except the specification and the part.
    func update(_ job: Job) throws {
        let failure = job.state.failure ?? job.state.wait?.cause
        let resume = ResumeColumns(job.resume)
        try run(
            """
            UPDATE jobs SET batch = ?, state = ?, revision = ?, reason = ?, retry_at = ?, failure = ?, promotion = ?,
                finish = ?, file_size = ?, attempts = ?, failures_in_a_row = ?, resume_decision = ?, resume_offset = ?, resume_why = ?,
                started_at = ?, finished_at = ?, fails_at = ?, resource_until = ?, resource_left = ?,
                part_lost = ?, sync_failed = ?, disproved = ?
            WHERE id = ?
            """,
            [
                job.batch, job.state.name.rawValue, job.revision, job.state.wait?.name.rawValue,
                job.state.wait?.until?.milliseconds, try failure.map(Stored.text),
                try job.state.promotion.map(Stored.text), try job.state.finish.map(Stored.text),
                job.state.finish?.file.size, job.attempts,
                job.failuresInARow, resume.decision, resume.offset, resume.why, job.startedAt?.milliseconds,
                job.finishedAt?.milliseconds, job.failsAt?.milliseconds, job.resourceTime?.end?.milliseconds,
                job.resourceTime?.leftMilliseconds, job.isPartLost, job.hasSyncFailed, job.isDisproved, job.id.text,
            ])
        touch(job.id)
        wakeDeadlines(job)
    }

    /// Writes when an idle part expires. The caller calls `touch` for the job.
    func updateExpiry(of part: Part) throws {
        try run(
            "UPDATE parts SET lifetime = ?, expires_at = ?, lifetime_left = ? WHERE id = ?",
            [
                Int64(part.expiry.lifetime * 1000), part.expiry.countdown?.end?.milliseconds,
                part.expiry.countdown?.leftMilliseconds, part.id.text,
            ])
        wake(.parts)
    }

    /// Inserts the part, or replaces the part of the job.
    func save(_ part: Part, of job: JobID) throws {
        try run(
            """
            INSERT INTO parts (id, job, url, etag, last_modified, last_modified_is_strong, is_encoded, size,
                bytes_durable, ranges, content_type, content_disposition, digests)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (job) DO UPDATE SET id = excluded.id, url = excluded.url, etag = excluded.etag,
                last_modified = excluded.last_modified, last_modified_is_strong = excluded.last_modified_is_strong,
                is_encoded = excluded.is_encoded, size = excluded.size, bytes_durable = excluded.bytes_durable,
                ranges = excluded.ranges, content_type = excluded.content_type,
                content_disposition = excluded.content_disposition, digests = excluded.digests
            """,
            [
                part.id.text, job.text, part.url, part.validators.etag, part.validators.lastModified,
                part.validators.lastModifiedIsStrong, part.validators.isEncoded, part.size, part.bytesDurable,
                part.ranges.isPrefix ? nil : try Stored.text(part.ranges.pairs), part.label.contentType,
                part.label.contentDisposition,
                part.label.digests.isEmpty ? nil : try Stored.text(part.label.digests),
            ])
        touch(job)
    }

    /// The caller calls `touch` for the job.
    func removePart(_ id: PartID) throws {
        try run("DELETE FROM parts WHERE id = ?", [id.text])
    }

    func removePart(of job: JobID) throws {
        try run("DELETE FROM parts WHERE job = ?", [job.text])
        touch(job)
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
    /// `not_before` while it is in the future, else nil.
    fileprivate func heldUntil(after now: Date, _ confidence: ClockConfidence) -> Date? {
        spec.notBefore.flatMap { confidence.hasCome($0, namedAt: createdAt, at: now) ? nil : $0 }
    }
}

extension Countdown {
    var leftMilliseconds: Int64? { left.map { Int64(($0 * 1000).rounded()) } }
}
