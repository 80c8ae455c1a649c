import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads a job and its part from a row, by the positions of `JobTable` and `PartTable`.
enum JobRow {
    static let select = columns + "FROM jobs LEFT JOIN parts ON parts.job = jobs.id\n"

    /// Begins with the tags of jobs.
    static let selectTagged =
        columns + "FROM job_tags JOIN jobs ON jobs.id = job_tags.job LEFT JOIN parts ON parts.job = jobs.id\n"

    private static let columns: String = {
        let all = JobTable.jobs.columns.read.map { "jobs.\($0)" } + PartTable.parts.columns.read.map { "parts.\($0)" }
        return "SELECT \(all.joined(separator: ", "))\n"
    }()

    static func job(_ id: JobID, in db: SQLConnection, _ sealer: Sealer) throws -> Job? {
        try db.row(select + "WHERE jobs.id = ?", [id.text]).map { try job($0, sealer) }
    }

    /// The jobs that exist, in any order.
    static func jobs(_ ids: [JobID], in db: SQLConnection, _ sealer: Sealer) throws -> [Job] {
        var jobs: [Job] = []
        jobs.reserveCapacity(ids.count)
        for start in stride(from: 0, to: ids.count, by: jobsInAStatement) {
            let texts = ids[start..<min(start + jobsInAStatement, ids.count)].map(\.text)
            // No job has an empty identifier. All lists of one length use one prepared statement.
            let padding = Array(repeating: "", count: jobsInAStatement - texts.count)
            jobs += try db.map(selectMany, SQLArguments(texts + padding)) { try job($0, sealer) }
        }
        return jobs
    }

    private static let jobsInAStatement = 100
    private static let selectMany =
        select + "WHERE jobs.id IN (" + Array(repeating: "?", count: jobsInAStatement).joined(separator: ", ") + ")"

    static func job(_ row: SQLRow, _ sealer: Sealer) throws -> Job {
        let at = JobTable.jobs
        return try Job(
            id: JobID(row[at.id]), session: Name(trusted: row[at.session]),
            token: (row[at.token] as String?).map { TokenID($0) }, gid: (row[at.gid] as String?).flatMap { GID($0) },
            batch: row[at.batch], state: try state(row, at, sealer), revision: row[at.revision],
            spec: try RowCoding.spec(from: try row.opened(at.spec, .jobSpec, sealer)),
            trace: (row[at.trace] as String?).flatMap { TraceContext(stored: $0) }, mirror: row[at.mirror],
            queueRank: (row[at.queueRank] as String?).map { QueueRank($0) }, node: row[at.node],
            createdAt: row.time(at.createdAt), startedAt: row.optionalTime(at.startedAt),
            finishedAt: row.optionalTime(at.finishedAt), attempts: row[at.attempts], admissions: row[at.admissions],
            failuresInARow: row[at.failuresInARow], timesHeldOff: row[at.timesHeldOff], resume: try resume(row, at),
            resourceTime: row.countdown(until: at.resourceUntil, left: at.resourceLeft), part: try part(row, sealer),
            isPartLost: row[at.isPartLost], hasSyncFailed: row[at.hasSyncFailed], isCorrupt: row[at.isCorrupt],
            stated: try (row[at.stated] as String?).map { try RowCoding.value(StatedDigests.self, from: $0) })
    }

    private static func state(_ row: SQLRow, _ at: JobTable, _ sealer: Sealer) throws -> JobState {
        switch try RowCoding.named(JobState.Kind.self, row[at.state], in: "state") {
        case .queued: .queued
        case .running:
            if try (row[at.promotion] as String?) != nil {
                .running(
                    .promoting(
                        try RowCoding.value(
                            FinalizePlan.self, from: try row.opened(at.promotion, .jobPromotion, sealer))))
            } else {
                .running(.attempting)
            }
        case .waiting:
            .waiting(
                Wait(
                    try waitReason(row, at), cause: try failure(row, at),
                    location: try (row[at.waitLocation] as String?).map { Name(trusted: $0) }))
        case .paused: .paused
        case .succeeded: .succeeded(try RowCoding.finish(from: try row.opened(at.finish, .jobFinish, sealer)))
        case .failed: .failed(try failure(row, at))
        case .cancelled: .cancelled
        }
    }

    private static func failure(_ row: SQLRow, _ at: JobTable) throws -> Failure {
        try RowCoding.value(Failure.self, from: row[at.failure])
    }

    private static func waitReason(_ row: SQLRow, _ at: JobTable) throws -> Wait.Reason {
        switch try RowCoding.named(Wait.Kind.self, row[at.reason], in: "reason") {
        case .retry: try .retry(until: row.time(at.retryAt))
        case .network: try .network(until: row.time(at.retryAt))
        case .space: try .space(until: row.time(at.retryAt))
        case .storage: try .storage(until: row.time(at.retryAt))
        case .credentials: .credentials
        case .url: .url
        }
    }

    private static func resume(_ row: SQLRow, _ at: JobTable) throws -> ResumeOutcome? {
        let why = { try RowCoding.named(ResumeOutcome.RestartReason.self, $0, in: "resume_why") }
        switch try row[at.resumeDecision] as String? {
        case nil: return nil
        case "resumed"?: return try .resumed(offset: row[at.resumeOffset], why: (row[at.resumeWhy] as String?).map(why))
        case "restarted"?: return try .restarted(why(row[at.resumeWhy]))
        case _?: return .fresh
        }
    }

    private static func part(_ row: SQLRow, _ sealer: Sealer) throws -> Part? {
        let at = PartTable.parts
        guard let id: String = try row[at.id] else { return nil }
        var part = try Part(
            id: PartID(id), url: try sealer.open(row[at.url], at: SecretColumn.partURL.place(id)).text,
            validators: Validators(
                etag: row[at.etag], etagIsRecent: row[at.etagIsRecent], lastModified: row[at.lastModified],
                lastModifiedIsStrong: row[at.lastModifiedIsStrong], isEncoded: row[at.isEncoded]),
            label: FileLabel(
                contentType: row[at.contentType], contentDisposition: row[at.contentDisposition],
                digests: try (row[at.digests] as String?).map { try RowCoding.value([DigestClaim].self, from: $0) }
                    ?? []),
            size: row[at.size], ranges: try ByteRanges(stored: row[at.ranges], count: row[at.bytesDurable]),
            expiry: Part.Expiry(
                lifetime: Double(row[at.lifetime] as Int64) / 1000,
                countdown: row.countdown(until: at.expiresAt, left: at.lifetimeLeft)))
        part.isJoinedByEvidence = try row[at.isJoinedByEvidence]
        return part
    }
}

extension SQLRow {
    fileprivate func time(_ position: Int) throws -> Date { Date(milliseconds: try self[position]) }

    fileprivate func optionalTime(_ position: Int) throws -> Date? {
        try (self[position] as Int64?).map(Date.init(milliseconds:))
    }

    /// The whole text of a column of the job.
    fileprivate func opened(_ position: Int, _ secret: SecretColumn, _ sealer: Sealer) throws -> String {
        let id: String = try self[JobTable.jobs.id]
        return try sealer.open(self[position], at: secret.place(id)).text
    }

    fileprivate func countdown(until: Int, left: Int) throws -> Countdown? {
        if let until = try optionalTime(until) { return .running(until: until) }
        return try (self[left] as Int64?).map { .stopped(left: Double($0) / 1000) }
    }
}

extension ByteRanges {
    /// - Parameter text: NULL when the ranges are one prefix of the file, of `count` bytes.
    init(stored text: String?, count: Int64) throws {
        guard let text else {
            self.init(prefix: count)
            return
        }
        guard let ranges = ByteRanges(pairs: try RowCoding.value([[Int64]].self, from: text)), ranges.count == count
        else { throw StoreError.failed(why: "a part's ranges '\(text)' are not \(count) bytes") }
        self = ranges
    }
}

/// The database keeps times in milliseconds. The version of a job in memory has the same precision as its row.
extension Job {
    var roundedToMilliseconds: Job {
        var job = self
        job.startedAt = startedAt?.roundedToMilliseconds
        job.finishedAt = finishedAt?.roundedToMilliseconds
        job.resourceTime = resourceTime?.roundedToMilliseconds
        if case .waiting(let wait) = state { job.state = .waiting(wait.roundedToMilliseconds) }
        if let part {
            job.part?.expiry.lifetime = Double(part.expiry.lifetimeMilliseconds) / 1000
            job.part?.expiry.countdown = part.expiry.countdown?.roundedToMilliseconds
        }
        return job
    }
}

extension Wait {
    fileprivate var roundedToMilliseconds: Wait { until.map { ending(at: $0.roundedToMilliseconds) } ?? self }
}

extension Countdown {
    /// Milliseconds that are left; nil while it runs.
    var leftMilliseconds: Int64? { left.map { Int64(($0 * 1000).rounded()) } }

    fileprivate var roundedToMilliseconds: Countdown {
        switch self {
        case .stopped: .stopped(left: Double(leftMilliseconds ?? 0) / 1000)
        case .running(let until): .running(until: until.roundedToMilliseconds)
        }
    }
}

extension Part.Expiry {
    var lifetimeMilliseconds: Int64 { Int64(lifetime * 1000) }
}

extension Date {
    fileprivate var roundedToMilliseconds: Date { Date(milliseconds: milliseconds) }
}

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
        let unknown = ids.filter { working.jobs[$0] == nil }
        if unknown.count > 1 { _ = try jobs(unknown) }
    }

    /// Reads jobs with a query that begins with `JobRow.select`.
    func jobs(_ sql: String, _ arguments: SQLArguments = []) throws -> [Job] {
        let jobs = try db.map(sql, arguments) { try JobRow.job($0, sealer) }
        for job in jobs { working.jobs.note(job, for: job.id) }
        return jobs
    }

    /// The jobs that exist, in the order of the identifiers.
    func jobs(_ ids: [JobID]) throws -> [Job] {
        let read = try JobRow.jobs(ids.filter { working.jobs[$0] == nil }, in: db, sealer)
        for job in read { working.jobs.note(job, for: job.id) }
        return ids.compactMap { working.jobs[$0] }
    }

    /// Writes what differs from the stored version: the columns, the specification and the part.
    ///
    /// - Returns: the job as the database keeps it.
    @discardableResult
    func save(_ job: Job) throws -> Job {
        let stored = try self.job(job.id)
        let job = job.roundedToMilliseconds
        guard job != stored else { return stored }
        try update("jobs", JobTable.jobs.columns.changes(from: stored, to: job, in: self), id: job.id.text)
        try savePart(of: job, replacing: stored.part)
        try count(stored, job)
        touch(job.id)
        working.jobs.note(job, for: job.id)
        wakeDeadlines(job)
        return job
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
        let hasCome = job.startedAt == nil ? confidence.hasCome(moment, namedAt: job.createdAt, at: now) : moment <= now
        return hasCome ? nil : moment
    }

    /// Wakes the deadline worker if the job fails before the worker's next regular pass.
    func wakeDeadlines(_ job: Job) {
        if let failsAt = job.failsAt, failsAt.timeIntervalSince(now) < Store.longestPollInterval { wake(.deadlines) }
    }
}
