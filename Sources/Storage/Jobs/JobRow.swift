import Downloads
import Formats
import Foundation
import GRDB
import HTTPSemantics

/// Reads a job and its part from a row.
enum JobRow {
    static let select = columns + "FROM jobs LEFT JOIN parts ON parts.job = jobs.id\n"

    /// Beginning with the tags of jobs.
    static let selectTagged =
        columns + "FROM job_tags JOIN jobs ON jobs.id = job_tags.job LEFT JOIN parts ON parts.job = jobs.id\n"

    private static let columns = """
        SELECT jobs.*, parts.id AS part_id, parts.url AS part_url, parts.etag, parts.last_modified,
            parts.last_modified_is_strong, parts.is_encoded, parts.size AS part_size, parts.bytes_durable,
            parts.ranges, parts.lifetime, parts.expires_at, parts.lifetime_left, parts.content_type,
            parts.content_disposition, parts.digests

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
    /// The byte ranges of a part. The column `ranges` is NULL when they are one prefix of the file.
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
