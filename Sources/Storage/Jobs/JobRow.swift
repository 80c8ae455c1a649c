import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads a job and its part from a row.
enum JobRow {
    static func job(_ id: JobID, in db: SQLConnection, _ sealer: Sealer) throws -> Job? {
        try db.row(select + "WHERE jobs.id = ?", [id.text])
            .map { try job($0, sealer) }
    }

    /// Jobs by their identifiers. Those that do not exist are left out.
    static func jobs(_ ids: [JobID], in db: SQLConnection, _ sealer: Sealer) throws -> [JobID: Job] {
        var jobs: [JobID: Job] = [:]
        for start in stride(from: 0, to: ids.count, by: jobsInAStatement) {
            let texts = ids[start..<min(start + jobsInAStatement, ids.count)].map(\.text)
            // No job has an empty identifier. All lists of one length use one prepared statement.
            let padding = Array(repeating: "", count: jobsInAStatement - texts.count)
            for job in try db.map(selectMany, SQLArguments(texts + padding), { try job($0, sealer) }) {
                jobs[job.id] = job
            }
        }
        return jobs
    }

    private static let jobsInAStatement = 100
    private static let selectMany =
        select + "WHERE jobs.id IN (" + Array(repeating: "?", count: jobsInAStatement).joined(separator: ", ") + ")"

    static func job(_ row: SQLRow, _ sealer: Sealer) throws -> Job {
        Job(
            id: JobID(row[.id]), session: Name(trusted: row[.session]),
            token: (row[.token] as String?).map { TokenID($0) }, gid: (row[.gid] as String?).flatMap { GID($0) },
            batch: row[.batch],
            state: try state(row, sealer), revision: row[.revision],
            spec: try Stored.spec(from: try row.opened(.spec, .jobSpec, sealer)),
            trace: (row[.trace] as String?).flatMap { TraceContext(stored: $0) }, mirror: row[.mirror],
            queueRank: (row[.queueRank] as String?).map { QueueRank($0) }, node: row[.node],
            createdAt: row.time(.createdAt), startedAt: row.optionalTime(.startedAt),
            finishedAt: row.optionalTime(.finishedAt), attempts: row[.attempts],
            admissions: row[.admissions], failuresInARow: row[.failuresInARow], resume: try resume(row),
            resourceTime: row.countdown(until: .resourceUntil, left: .resourceLeft), part: try part(row, sealer),
            isPartLost: row[.partLost], hasSyncFailed: row[.syncFailed], isDisproved: row[.disproved])
    }

    private static func state(_ row: SQLRow, _ sealer: Sealer) throws -> JobState {
        switch try row.named(.state, as: JobState.Name.self) {
        case .queued: .queued
        case .running:
            if (row[.promotion] as String?) != nil {
                .running(
                    .promoting(
                        try Stored.value(Promotion.self, from: try row.opened(.promotion, .jobPromotion, sealer))))
            } else {
                .running(.attempting)
            }
        case .waiting:
            .waiting(Wait(try waitReason(row), cause: try row.decoded(.failure, as: Failure.self)))
        case .paused: .paused
        case .succeeded: .succeeded(try Stored.finish(from: try row.opened(.finish, .jobFinish, sealer)))
        case .failed: .failed(try row.decoded(.failure, as: Failure.self))
        case .cancelled: .cancelled
        }
    }

    private static func waitReason(_ row: SQLRow) throws -> Wait.Reason {
        switch try row.named(.reason, as: Wait.Name.self) {
        case .retry: .retry(until: row.time(.retryAt))
        case .network: .network(until: row.time(.retryAt))
        case .space: .space(until: row.time(.retryAt))
        case .storage: .storage(until: row.time(.retryAt))
        case .credentials: .credentials
        case .url: .url
        }
    }

    private static func resume(_ row: SQLRow) throws -> ResumeOutcome? {
        switch row[.resumeDecision] as String? {
        case nil: nil
        case "resumed"?:
            .resumed(
                offset: row[.resumeOffset],
                why: (row[.resumeWhy] as String?) == nil
                    ? nil : try row.named(.resumeWhy, as: ResumeOutcome.RestartReason.self))
        case "restarted"?: .restarted(try row.named(.resumeWhy, as: ResumeOutcome.RestartReason.self))
        case _?: .fresh
        }
    }

    private static func part(_ row: SQLRow, _ sealer: Sealer) throws -> Part? {
        guard let id: String = row[.partID] else { return nil }
        let validators = Validators(
            etag: row[.etag], lastModified: row[.lastModified], lastModifiedIsStrong: row[.lastModifiedIsStrong],
            isEncoded: row[.isEncoded])
        return Part(
            id: PartID(id), url: try sealer.open(row[.partURL], at: SecretColumn.partURL.place(id)).text,
            validators: validators,
            label: FileLabel(
                contentType: row[.contentType], contentDisposition: row[.contentDisposition],
                digests: try (row[.digests] as String?).map { try Stored.value([DigestClaim].self, from: $0) } ?? []),
            size: row[.partSize], ranges: try ByteRanges(stored: row[.ranges], count: row[.bytesDurable]),
            expiry: Part.Expiry(
                lifetime: Double(row[.lifetime] as Int64) / 1000,
                countdown: row.countdown(until: .expiresAt, left: .lifetimeLeft)))
    }
}

extension SQLRow {
    /// The whole text of a column of the job.
    fileprivate func opened(_ column: JobRow.Column, _ secret: SecretColumn, _ sealer: Sealer) throws -> String {
        try sealer.open(self[column], at: secret.place(self[.id] as String)).text
    }

    fileprivate func countdown(until: JobRow.Column, left: JobRow.Column) -> Countdown? {
        if let until = optionalTime(until) { return .running(until: until) }
        return (self[left] as Int64?).map { .stopped(left: Double($0) / 1000) }
    }
}

extension ByteRanges {
    /// The byte ranges of a part.
    ///
    /// - Parameters:
    ///   - text: the column `ranges`, which is NULL when the ranges are one prefix of the file.
    ///   - count: the column `bytes_durable`.
    init(stored text: String?, count: Int64) throws {
        guard let text else {
            self.init(prefix: count)
            return
        }
        guard let ranges = ByteRanges(pairs: try Stored.value([[Int64]].self, from: text)), ranges.count == count else {
            throw StoreError.failed(why: "a part's ranges '\(text)' are not \(count) bytes")
        }
        self = ranges
    }
}
