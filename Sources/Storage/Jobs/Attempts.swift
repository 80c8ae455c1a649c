import Downloads
import Formats
import Foundation

/// The findings of an attempt. The store commits them together with the next state of the job.
public struct AttemptReport: Sendable {
    /// `Job.admissions` of the attempt. If the job was admitted again since, the outcome is `superseded`; nil: not an attempt.
    public var admission: Int?
    /// The part as it is on the disk, synced; nil leaves the committed part unchanged.
    public var part: Part?
    /// All bytes that the attempt has received up to now, also those that are in no part.
    public var received: Int64
    /// Whether the attempt has received new bytes. Then the count of failures in a row starts again.
    public var madeProgress: Bool
    /// How the transfer began; nil when no response was accepted.
    public var resume: ResumeOutcome?
    /// Whether written bytes are lost because a sync failed. If `part` is nil, the committed part is lost as well.
    public var hasSyncFailed: Bool
    /// The version of the file that the attempt has begun, with the digests of its server; nil when no response was accepted.
    public var seen: StatedDigests?
    /// Whether another program has changed or removed the promised part.
    public var hasLostPart: Bool
    /// The destination that a promotion was planned for. If the job has another destination now, the outcome is
    /// `stale`.
    public var destination: Destination?
    /// The specification that the attempt used, if its end depends on it. If clients have changed the job or its
    /// session since, so that another attempt could end in another way, the outcome is `stale`.
    public var spec: ResolvedSpec?

    public init(
        admission: Int? = nil, part: Part? = nil, received: Int64 = 0, madeProgress: Bool = false,
        resume: ResumeOutcome? = nil, hasSyncFailed: Bool = false, seen: StatedDigests? = nil,
        hasLostPart: Bool = false,
        destination: Destination? = nil, spec: ResolvedSpec? = nil
    ) {
        self.admission = admission
        self.part = part
        self.received = received
        self.madeProgress = madeProgress
        self.resume = resume
        self.hasSyncFailed = hasSyncFailed
        self.seen = seen
        self.hasLostPart = hasLostPart
        self.destination = destination
        self.spec = spec
    }
}

extension Store {
    /// The report is ignored unless the job is running. For `onCommit` see `Writer.write`.
    ///
    /// - Throws: `noSuchJob`, `revisionChanged`.
    /// - Throws: `noSuchJob`, `revisionChanged`.
    public func apply(
        _ signal: JobSignal, to job: JobID, _ report: AttemptReport = AttemptReport(), expecting revision: Int? = nil,
        onCommit: @escaping @Sendable (SignalOutcome) -> Void = { _ in }
    ) async throws -> SignalOutcome {
        try await writer.write(onCommit: onCommit) { transaction in
            if let revision { try transaction.requireRevision(revision, of: job) }
            return try transaction.applySignal(signal, to: job, report)
        }
    }

    /// Applies signals to many jobs in one commit. A job that does not exist any more is left out of the result.
    public func apply(
        _ signals: [(job: JobID, signal: JobSignal, report: AttemptReport)],
        onCommit: @escaping @Sendable ([JobID: SignalOutcome]) -> Void = { _ in }
    ) async throws -> [JobID: SignalOutcome] {
        try await writer.write(onCommit: onCommit) { transaction in
            try transaction.prefetch(signals.map(\.job))
            var outcomes: [JobID: SignalOutcome] = [:]
            for (job, signal, report) in signals {
                do {
                    outcomes[job] = try transaction.applySignal(signal, to: job, report)
                } catch StoreError.noSuchJob {
                    continue
                }
            }
            return outcomes
        }
    }

    /// Records how the transfer of an attempt begins, after its first response was accepted. A restart removes the part
    /// that the attempt can't continue. An attempt that has ended changes nothing.
    ///
    /// - Parameters:
    ///   - admitted: the job as it was admitted.
    ///   - dropped: a part of this attempt that is removed as well.
    public func beginTransfer(of admitted: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil) async throws {
        try await writer.write { transaction in
            var job = try transaction.job(admitted.id)
            guard job.isAttempting(admitted.admissions) else { return }
            job.resume = outcome
            // The outcome reports the loss. It must not be reported again.
            job.isPartLost = false
            job.hasSyncFailed = false
            // Parts are compared by identifier, because a checkpoint may have promised the new part already.
            if case .restarted = outcome, let part = job.part?.id, part == admitted.part?.id || part == dropped {
                job.part = nil
            }
            try transaction.save(job)
            switch outcome {
            case .fresh: break
            case .resumed: try transaction.announce(.jobResumed, of: job)
            case .restarted: try transaction.announce(.jobRestarted, of: job)
            }
        }
    }

    /// Records what an attempt has discovered. An attempt that has ended changes nothing.
    public func record(_ discovery: Discovery, of admitted: Job) async throws {
        try await writer.write { transaction in
            var job = try transaction.job(admitted.id)
            guard job.isAttempting(admitted.admissions) else { return }
            job.spec.discovery = discovery
            try transaction.save(job)
        }
    }

    /// Records synced offsets of many parts in one commit. Parts of attempts that have ended are left out.
    ///
    /// - Parameter received: `AttemptReport.received` of the attempts, for the quotas of tokens.
    public func checkpoint(
        _ parts: [(job: JobID, admission: Int, part: Part)], received: [JobID: Int64] = [:]
    ) async throws {
        guard !parts.isEmpty else { return }
        try await writer.write { transaction in
            try transaction.prefetch(parts.map(\.job))
            for (id, admission, part) in parts {
                guard var job = try? transaction.job(id), job.isAttempting(admission) else { continue }
                try transaction.countReceived(received[id] ?? 0, of: job)
                job.replacePart(by: part)
                job.stated = job.stated.after(
                    StatedDigests(part.label.digests, validators: part.validators, size: part.size))
                job.isPartLost = false
                try transaction.save(job)
            }
        }
    }

    /// Promises a copy of a part in place of the part.
    ///
    /// - Returns: false if the attempt has ended, or if the job has another part. Nothing has changed then.
    public func replacePart(_ old: PartID, by copy: Part, of job: JobID, admission: Int) async throws -> Bool {
        try await writer.write { transaction in
            var job = try transaction.job(job)
            guard job.isAttempting(admission) else { return false }
            // The write is repeated after an unknown outcome.
            if job.part?.id == copy.id { return true }
            guard job.part?.id == old else { return false }
            job.replacePart(by: copy)
            job.part?.released = nil
            try transaction.save(job)
            if copy.released != nil {
                try transaction.run(
                    "UPDATE uploads SET part = ? WHERE job = ? AND part = ?", [copy.id.text, job.id.text, old.text])
            }
            return true
        }
    }

    /// Queues the jobs again that were running when the service stopped. The engine calls it once, before it admits jobs.
    ///
    /// - Returns: the number of queued jobs; and the jobs whose file was being promoted, which the engine continues.
    public func recoverInterrupted() async throws -> (interrupted: Int, promoting: [AdmittedJob]) {
        try await writer.write { transaction in
            let running = try transaction.ownRunningJobs()
            let interrupted = running.filter { $0.state.finalizePlan == nil }
            try transaction.transitionJobs(interrupted.map { ($0, .attemptInterrupted) })
            transaction.wake(.jobs)
            let promoting = running.filter { $0.state.finalizePlan != nil }
            return (interrupted.count, try promoting.map(transaction.admitted))
        }
    }
}

extension Transaction {
    func applySignal(_ signal: JobSignal, to id: JobID, _ report: AttemptReport) throws -> SignalOutcome {
        let stored = try job(id)
        var job = stored
        if let admission = report.admission, admission != job.admissions { return .superseded(job) }
        guard case .running = job.state else { return try transitionJob(job, on: signal) }
        try countReceived(report.received, of: job)
        if let planned = report.destination, planned != job.spec.destination { return .stale(job) }
        if let spec = report.spec, try !spec.endsLike(presentSpec(of: job)) { return .stale(job) }
        if case .finalizePlanned(let promotion) = signal, let limit = try excess(promotion, of: job) {
            return .excess(job, limit)
        }
        if let part = report.part {
            job.replacePart(by: part)
            job.isPartLost = false
            let lifetime = try configuration(of: job.session).resumeDataTTL
            job.part?.expiry.lifetime = lifetime ?? SessionConfiguration.defaultResumeDataTTL
        }
        if let resume = report.resume {
            job.resume = resume
            job.isPartLost = false
            job.hasSyncFailed = false
        }
        if let seen = report.seen { job.stated = job.stated.after(seen) }
        if report.hasSyncFailed { job.hasSyncFailed = true }
        if report.hasLostPart { job.isPartLost = true }
        if report.hasSyncFailed || report.hasLostPart, report.part == nil { job.part = nil }
        if report.madeProgress { job.failuresInARow = 0 }
        let outcome = try transitionJob(job, on: ending(signal, of: job).bounded(at: now))
        if case .finalized(_?) = signal { try removeUpload(of: id) }
        let isOver = if case .done(let next, _, _) = outcome { next.state.name != .running } else { false }
        if isOver, working.received[id] != nil { working.received.forget(id) }
        return outcome
    }

    func admitted(_ job: Job) throws -> AdmittedJob { AdmittedJob(job: job, spec: try presentSpec(of: job)) }

    /// The specification that an attempt of the job would use now.
    private func presentSpec(of job: Job) throws -> ResolvedSpec {
        ResolvedSpec(job, in: try configuration(of: job.session))
    }
}

extension Job {
    func isAttempting(_ admission: Int) -> Bool { state == .running(.attempting) && admissions == admission }

    /// An attempt does not know the expiry of its part.
    fileprivate mutating func replacePart(by new: Part) {
        let expiry = part?.expiry ?? Part.Expiry()
        part = new
        part?.expiry = expiry
    }
}

extension Store {
    /// Applies `timeElapsed` to overdue jobs. The engine stops the attempts of those that are running.
    /// - Returns: the outcomes, and the time of the next deadline.
    public func failOverdueJobs(
        limit: Int = 500, onCommit: @escaping @Sendable ([SignalOutcome]) -> Void
    ) async throws -> (outcomes: [SignalOutcome], next: Date?) {
        let next = try await read { try $0.time("SELECT min(fails_at) FROM jobs WHERE fails_at IS NOT NULL") }
        guard let next, next <= time.now else { return ([], next) }
        let outcomes = try await writer.write(onCommit: onCommit) { transaction in
            let overdue = try transaction.jobs(Transaction.overdueJobs, transaction.clientTimes + ["limit": limit])
            return try transaction.transitionJobs(
                overdue.map { ($0, .timeElapsed($0.overdue(at: transaction.now, transaction.confidence))) })
        }
        // While the clock is in doubt, all remaining jobs may be in doubt.
        if outcomes.isEmpty { return ([], nil) }
        // More jobs may be overdue than `limit`. Jobs that are stopping stay overdue until they have stopped.
        let hasFailedAny = outcomes.contains { $0.job.state.name == .failed }
        return (outcomes, time.now.addingTimeInterval(hasFailedAny ? 0 : 1))
    }
}

extension Transaction {
    static let overdueJobs =
        JobRow.select + """
            WHERE fails_at <= :now
                AND (resource_until <= :now OR deadline <= :surely OR (deadline <= :now AND created_at >= :jump))
            ORDER BY fails_at LIMIT :limit
            """

    /// The signal with which an attempt ends. While an overdue attempt was being stopped, a client may have extended or
    /// removed the deadline: then the job goes on.
    func ending(_ signal: JobSignal, of job: Job) -> JobSignal {
        guard case .attemptFailed(let failure) = signal, failure.code == .deadlineExceeded else { return signal }
        // The clock of the service that has decided the stop can be slightly ahead.
        let present = max(now.milliseconds, failure.at.milliseconds)
        let isOverdue = job.failsAt.map { $0.milliseconds <= present } ?? false
        return isOverdue ? signal : .attemptInterrupted
    }
}

extension Job {
    fileprivate func overdue(at now: Date, _ confidence: ClockConfidence) -> Failure {
        let why =
            spec.deadline.map { confidence.hasCome($0, namedAt: createdAt, at: now) } ?? false
            ? "The deadline passed before the download ended."
            : "The download has taken longer than timeouts.resource_seconds allows."
        return Failure(.deadlineExceeded, why, attempts: attempts, at: now)
    }
}
