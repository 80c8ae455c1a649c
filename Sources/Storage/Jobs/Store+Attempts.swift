import Downloads

/// Applies signals of clients and attempts to jobs. Each call is one transaction: state, part, event and deliveries together.
extension Store {
    /// Applies a signal to a job. The state machine decides what it changes.
    ///
    /// - Parameters:
    ///   - report: the findings of the attempt. They are ignored unless the job is running.
    ///   - revision: if given, the revision that the job must have.
    ///   - onCommit: see `Writer.write`.
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
        try await writer.write(onCommit: onCommit) { try $0.applySignals(signals) }
    }

    /// Records how the transfer of an attempt begins, after its first response was accepted. A restart removes the part
    /// that the attempt can't continue. An attempt that has ended changes nothing.
    ///
    /// - Parameters:
    ///   - admitted: the job as it was admitted.
    ///   - dropped: a part of this attempt that is removed as well.
    public func beginTransfer(
        of admitted: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil
    ) async throws {
        try await writer.write { try $0.beginTransfer(of: admitted, outcome, without: dropped) }
    }

    /// Records synced offsets of many parts in one commit. Parts of attempts that have ended are left out.
    ///
    /// - Parameter received: `AttemptReport.received` of the attempts, for the quotas of tokens.
    public func checkpoint(
        _ parts: [(job: JobID, admission: Int, part: Part)], received: [JobID: Int64] = [:]
    ) async throws {
        guard !parts.isEmpty else { return }
        try await writer.write { try $0.checkpoint(parts, received: received) }
    }

    /// Promises a copy of a part in place of the part.
    ///
    /// - Returns: false if the attempt has ended, or if the job has another part. Nothing has changed then.
    public func replacePart(
        _ old: PartID, by copy: Part, of job: JobID, admission: Int
    ) async throws -> Bool {
        try await writer.write { try $0.replacePart(old, by: copy, of: job, admission: admission) }
    }

    /// Queues the jobs again that were running when the service stopped. The engine calls it once, before it admits jobs.
    ///
    /// - Returns: the number of queued jobs; and the jobs whose file was being promoted, which the engine continues.
    public func recoverInterrupted() async throws -> (interrupted: Int, promoting: [AdmittedJob]) {
        try await writer.write { try $0.recoverInterrupted() }
    }
}
