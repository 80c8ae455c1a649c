import Formats
import Foundation

extension JobRow {
    /// The columns of `JobRow.select`, in their order. A column is read by its index: GRDB compares the names of columns
    /// without case, which takes longer than everything else that reads a job.
    enum Column: Int, CaseIterable {
        case id, session, batch, state, revision, spec, mirror, createdAt, startedAt, finishedAt, attempts
        case failuresInARow, reason, retryAt, failure, promotion, finish, resumeDecision, resumeOffset, resumeWhy
        case resourceUntil, resourceLeft, partLost, syncFailed, disproved, token, trace, gid, queueRank
        case partID, partURL, etag, lastModified, lastModifiedIsStrong, isEncoded, partSize, bytesDurable, ranges
        case lifetime, expiresAt, lifetimeLeft, contentType, contentDisposition, digests, node, admissions
    }

    static let select = columns + "FROM jobs LEFT JOIN parts ON parts.job = jobs.id\n"

    /// Begins with the tags of jobs.
    static let selectTagged =
        columns + "FROM job_tags JOIN jobs ON jobs.id = job_tags.job LEFT JOIN parts ON parts.job = jobs.id\n"

    private static let columns = """
        SELECT jobs.id, jobs.session, jobs.batch, jobs.state, jobs.revision, jobs.spec, jobs.mirror,
            jobs.created_at, jobs.started_at, jobs.finished_at, jobs.attempts, jobs.failures_in_a_row,
            jobs.reason, jobs.retry_at, jobs.failure, jobs.promotion, jobs.finish, jobs.resume_decision,
            jobs.resume_offset, jobs.resume_why, jobs.resource_until, jobs.resource_left, jobs.part_lost,
            jobs.sync_failed, jobs.disproved, jobs.token, jobs.trace, jobs.gid, jobs.queue_rank, parts.id, parts.url,
            parts.etag, parts.last_modified,
            parts.last_modified_is_strong, parts.is_encoded, parts.size, parts.bytes_durable, parts.ranges,
            parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type,
            parts.content_disposition, parts.digests, jobs.node, jobs.admissions

        """
}

extension SQLRow {
    subscript<Value: SQLValue>(_ column: JobRow.Column) -> Value { self[column.rawValue] }
    subscript<Value: SQLValue>(_ column: JobRow.Column) -> Value? { self[column.rawValue] }

    func time(_ column: JobRow.Column) -> Date { Date(milliseconds: self[column]) }
    func optionalTime(_ column: JobRow.Column) -> Date? { (self[column] as Int64?).map(Date.init(milliseconds:)) }

    func decoded<Value: Decodable>(_ column: JobRow.Column, as type: Value.Type) throws -> Value {
        try Stored.value(type, from: self[column])
    }

    func named<Value: RawRepresentable<String>>(_ column: JobRow.Column, as type: Value.Type) throws -> Value {
        try Stored.named(type, self[column], in: "\(column)")
    }
}
