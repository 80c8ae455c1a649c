import Downloads
import Formats
import Foundation
import GRDB
import HTTPSemantics

/// A job and its part as rows.
enum JobRow {
    static let select = """
        SELECT jobs.*, parts.id AS part_id, parts.url AS part_url, parts.etag, parts.last_modified,
            parts.last_modified_is_strong, parts.is_encoded, parts.size AS part_size, parts.bytes_durable,
            parts.ranges, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type,
            parts.content_disposition, parts.digests
        FROM jobs LEFT JOIN parts ON parts.job = jobs.id

        """

    static func job(_ id: JobID, in db: Database) throws -> Job? {
        try Row.fetchOne(db.cachedStatement(sql: select + "WHERE jobs.id = ?"), arguments: [id.text]).map(job)
    }

    static func job(_ row: Row) throws -> Job {
        Job(
            id: JobID(row["id"]), session: Name(trusted: row["session"]), batch: row["batch"], state: try state(row),
            revision: row["revision"], spec: try row.decoded("spec", as: JobSpec.self), mirror: row["mirror"],
            createdAt: row.time("created_at"), startedAt: row.optionalTime("started_at"),
            finishedAt: row.optionalTime("finished_at"), attempts: row["attempts"],
            failuresInARow: row["failures_in_a_row"], resume: try resume(row),
            resourceTime: row.countdown(until: "resource_until", left: "resource_left"), part: try part(row),
            isPartLost: row["part_lost"], hasSyncFailed: row["sync_failed"], isDisproved: row["disproved"])
    }

    private static func state(_ row: Row) throws -> JobState {
        switch try row.named("state", as: JobState.Name.self) {
        case .queued: .queued
        case .running:
            if let text: String = row["promotion"] {
                .running(.promoting(try Stored.value(Promotion.self, from: text)))
            } else {
                .running(.attempting)
            }
        case .waiting:
            .waiting(Wait(try waitReason(row), cause: try row.decoded("failure", as: Failure.self)))
        case .paused: .paused
        case .succeeded: .succeeded(try row.decoded("finish", as: Finish.self))
        case .failed: .failed(try row.decoded("failure", as: Failure.self))
        case .cancelled: .cancelled
        }
    }

    private static func waitReason(_ row: Row) throws -> Wait.Reason {
        switch try row.named("reason", as: Wait.Name.self) {
        case .retry: .retry(until: row.time("retry_at"))
        case .network: .network(until: row.time("retry_at"))
        case .space: .space(until: row.time("retry_at"))
        case .storage: .storage(until: row.time("retry_at"))
        case .credentials: .credentials
        case .url: .url
        }
    }

    private static func resume(_ row: Row) throws -> ResumeOutcome? {
        switch row["resume_decision"] as String? {
        case nil: nil
        case "resumed"?:
            .resumed(
                offset: row["resume_offset"],
                why: row["resume_why"] == nil
                    ? nil : try row.named("resume_why", as: ResumeOutcome.RestartReason.self))
        case "restarted"?: .restarted(try row.named("resume_why", as: ResumeOutcome.RestartReason.self))
        case _?: .fresh
        }
    }

    private static func part(_ row: Row) throws -> Part? {
        guard let id: String = row["part_id"] else { return nil }
        let validators = Validators(
            etag: row["etag"], lastModified: row["last_modified"], lastModifiedIsStrong: row["last_modified_is_strong"],
            isEncoded: row["is_encoded"])
        return Part(
            id: PartID(id), url: row["part_url"], validators: validators,
            label: FileLabel(
                contentType: row["content_type"], contentDisposition: row["content_disposition"],
                digests: try (row["digests"] as String?).map { try Stored.value([DigestClaim].self, from: $0) } ?? []),
            size: row["part_size"], ranges: try row.ranges(),
            expiry: Part.Expiry(
                lifetime: Double(row["lifetime"] as Int64) / 1000,
                countdown: row.countdown(until: "expires_at", left: "lifetime_left")))
    }
}

extension Row {
    /// Of a part: most have the first so many bytes, and no more to tell.
    func ranges() throws -> ByteRanges {
        let count: Int64 = self["bytes_durable"]
        guard let text: String = self["ranges"] else { return ByteRanges(prefix: count) }
        guard let ranges = ByteRanges(pairs: try Stored.value([[Int64]].self, from: text)), ranges.count == count else {
            throw StoreError.failed(why: "a part's ranges '\(text)' are not \(count) bytes")
        }
        return ranges
    }

    fileprivate func countdown(until: String, left: String) -> Countdown? {
        if let until = optionalTime(until) { return .running(until: until) }
        return (self[left] as Int64?).map { .stopped(left: Double($0) / 1000) }
    }
}

extension Countdown {
    fileprivate var leftMilliseconds: Int64? { left.map { Int64(($0 * 1000).rounded()) } }
}

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
                job.heldUntil(after: now, standing)?.milliseconds, job.spec.deadline?.milliseconds,
                job.failsAt?.milliseconds, job.createdAt.milliseconds,
            ])
        notePressure(job)
        for tag in job.spec.tags { try run("INSERT INTO job_tags (tag, job) VALUES (?, ?)", [tag, job.id.text]) }
    }

    /// Writes what clients may change of what they asked for.
    func updateSpec(_ job: Job) throws {
        try run(
            "UPDATE jobs SET spec = ?, priority = ?, host = ?, mirror = ?, held_until = ?, deadline = ? WHERE id = ?",
            [
                try Stored.text(job.spec), (job.spec.priority ?? .normal).rank, URLRule.hostAndPort(of: job.url),
                job.mirror, job.heldUntil(after: now, standing)?.milliseconds, job.spec.deadline?.milliseconds,
                job.id.text,
            ])
        touch(job.id)
    }

    /// A limit that comes before the worker would look again anyway.
    private func notePressure(_ job: Job) {
        if let failsAt = job.failsAt, failsAt.timeIntervalSince(now) < Store.longestLook { wake(.deadlines) }
    }

    /// Writes everything about the job that can change, what was asked for and its part apart.
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
        notePressure(job)
    }

    /// When a part that nobody adds to is forgotten. The job is noted by whoever knows it.
    func updateExpiry(of part: Part) throws {
        try run(
            "UPDATE parts SET lifetime = ?, expires_at = ?, lifetime_left = ? WHERE id = ?",
            [
                Int64(part.expiry.lifetime * 1000), part.expiry.countdown?.end?.milliseconds,
                part.expiry.countdown?.leftMilliseconds, part.id.text,
            ])
        wake(.parts)
    }

    /// Replaces whatever part the job had.
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

    /// The job is noted by whoever knows it.
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
    /// `not_before`, while it lies ahead.
    fileprivate func heldUntil(after now: Date, _ standing: ClockStanding) -> Date? {
        spec.notBefore.flatMap { standing.hasCome($0, namedAt: createdAt, at: now) ? nil : $0 }
    }
}
