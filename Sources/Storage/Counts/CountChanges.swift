import Downloads

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
