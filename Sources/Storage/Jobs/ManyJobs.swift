import Downloads

/// Why the state of a job does not allow a signal.
public struct SignalRefusal: Error {
    public let job: Job
    public let allowed: [JobState.Kind]

    public init(job: Job, allowed: [JobState.Kind]) { (self.job, self.allowed) = (job, allowed) }
}

/// Actions on many jobs, one step of each in one commit. Jobs that the selection does not contain any more stay as they are,
/// and are not counted. The record is stored with the changes.
extension Store {
    /// Applies a signal to jobs. Running ones get a stop, and are not counted as changed.
    ///
    /// - Parameter onStop: see `Writer.write`; called for the jobs that get a stop.
    public func apply(
        _ signal: JobSignal, to jobs: [JobID], in selection: JobSelection, _ record: ActionRecord,
        onStop: @escaping @Sendable (SignalOutcome) -> Void
    ) async throws -> SignalledJobs {
        try await writer.write(onCommit: { $0.stopped.forEach(onStop) }) { transaction in
            var step = SignalledJobs(record: record)
            let present = try transaction.jobs(jobs).filter(selection.contains)
            for (job, result) in zip(present, try transaction.transitions(of: present, on: signal)) {
                step.note(result, of: job)
            }
            try transaction.store(&step.record)
            return step
        }
    }

    /// Changes the specifications of jobs.
    ///
    /// - Parameters:
    ///   - patch: makes the new specification, or refuses the job.
    ///   - onChange: see `Writer.write`; called with the changed jobs.
    public func change(
        _ jobs: [JobID], in selection: JobSelection, _ fields: Set<PatchableField>, _ record: ActionRecord,
        by patch: @escaping @Sendable (JobSpec) -> Result<JobSpec, any Error>,
        onChange: @escaping @Sendable ([Job]) -> Void
    ) async throws -> ActionRecord {
        let step = try await writer.write(onCommit: { onChange($0.changed) }) { transaction in
            var (record, changed): (ActionRecord, [Job]) = (record, [])
            for job in try transaction.jobs(jobs) where selection.contains(job) {
                record.counts.matched += 1
                switch patch(job.spec) {
                case .failure(let error): record.refuse(job.id, error)
                case .success(let spec):
                    guard spec != job.spec else { continue }
                    try record.tryTo(job.id) { changed.append(try transaction.patch(job, to: spec, fields).job) }
                }
            }
            record.counts.changed += changed.count
            try transaction.store(&record)
            return (record: record, changed: changed)
        }
        return step.record
    }
}

/// The result of one step of a signal to many jobs.
public struct SignalledJobs: Sendable {
    public var record: ActionRecord
    /// Parts of jobs that were cancelled.
    public var dropped: [PartID] = []
    /// Jobs that were queued.
    public var queued: [Job] = []
    fileprivate var stopped: [SignalOutcome] = []
    /// Running jobs that got a stop.
    public var stopping: [JobID] { stopped.map(\.job.id) }

    fileprivate init(record: ActionRecord) { self.record = record }

    fileprivate mutating func note(_ result: Result<SignalOutcome, StoreError>, of job: Job) {
        record.counts.matched += 1
        switch result {
        case .failure(let error): record.refuse(job.id, error)
        case .success(.refused(let job, let allowed)):
            record.refuse(job.id, SignalRefusal(job: job, allowed: allowed))
        case .success(let outcome):
            guard case .done(let after, let effects, let part) = outcome else { return }
            if let part { dropped.append(part) }
            if effects.contains(where: \.isStop) { return stopped.append(outcome) }
            guard after.state.name != job.state.name else { return }
            record.counts.changed += 1
            if after.state == .queued { queued.append(after) }
        }
    }
}

extension JobEffect {
    public var isStop: Bool { if case .stopAttempt = self { true } else { false } }
}

extension ActionRecord {
    /// Does something with one job, or counts it as refused.
    mutating func tryTo(_ job: JobID, _ act: () throws -> Void) throws {
        do { try act() } catch let error as StoreError where error.refusesAJob { refuse(job, error) }
    }
}

extension StoreError {
    /// Whether the error refuses one job, before anything was written. Others end the transaction.
    var refusesAJob: Bool {
        switch self {
        case .noSuchJob, .sessionFinishing, .fieldsFixed, .moveRefused: true
        default: false
        }
    }
}

extension Store {
    /// Deletes jobs in one commit. Those that have not ended are cancelled before, except running ones: they get a stop.
    ///
    /// - Parameters:
    ///   - jobs: those that the selection does not contain any more stay.
    ///   - removesFileElsewhere: whether another service that has a file in a folder of its own removes it.
    ///   - keeps: jobs that have ended, and still must not be deleted.
    ///   - record: is stored with the deletion.
    ///   - onStop: see `Writer.write`; called for the jobs that get a stop.
    public func removeJobs(
        _ jobs: [JobID], in selection: JobSelection, removingFilesElsewhere removesFilesElsewhere: Bool,
        keeping keeps: @escaping @Sendable (Job) -> Bool, _ record: ActionRecord,
        onStop: @escaping @Sendable (SignalOutcome) -> Void
    ) async throws -> RemovedJobs {
        try await writer.write(onCommit: { $0.stopped.forEach(onStop) }) { transaction in
            var removed = try transaction.removeJobs(jobs, in: selection, keeping: keeps)
            if removesFilesElsewhere { for job in removed.jobs { try transaction.dropFile(of: job) } }
            removed.record = record
            removed.record.counts.matched += removed.jobs.count + removed.left.count
            removed.record.counts.changed += removed.jobs.count
            try transaction.store(&removed.record)
            return removed
        }
    }
}

/// The result of one step of a removal of many jobs.
public struct RemovedJobs: Sendable {
    public var jobs: [Job] = []
    /// Parts of jobs that were cancelled before.
    public var dropped: [PartID] = []
    /// Jobs that are still there: running ones, and those that the caller keeps.
    public var left: [JobID] = []
    fileprivate var stopped: [SignalOutcome] = []
    public var record = ActionRecord(nil, of: "")
}

extension Transaction {
    fileprivate func removeJobs(
        _ ids: [JobID], in selection: JobSelection, keeping keeps: (Job) -> Bool
    ) throws -> RemovedJobs {
        var removed = RemovedJobs()
        let present = try jobs(ids).filter(selection.contains)
        let outstanding = present.filter(\.state.isOutstanding)
        var ended = present.filter(\.state.isTerminal)
        for outcome in try transitionJobs(outstanding.map { ($0, .cancelRequested(keepsPart: false)) }) {
            let job = try job(outcome.job.id)
            if case .done(_, _, let dropped?) = outcome { removed.dropped.append(dropped) }
            if job.state.isTerminal {
                ended.append(job)
            } else {
                removed.stopped.append(outcome)
                removed.left.append(job.id)
            }
        }
        removed.left += ended.filter(keeps).map(\.id)
        removed.jobs = ended.filter { !keeps($0) }
        try append(removed.jobs.map { NewEvent(.jobDeleted, of: $0) })
        for job in removed.jobs { try delete(job) }
        return removed
    }
}
