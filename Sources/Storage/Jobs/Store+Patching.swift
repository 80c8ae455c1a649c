import Downloads

/// Changes the specification of jobs.
extension Store {
    /// Replaces the specification of a job. A job that waits for one of these fields is queued again.
    ///
    /// - Parameters:
    ///   - before: the specification that the patch was applied to.
    ///   - fields: the fields that the patch names.
    ///   - revision: if given, the revision that the job must have.
    ///   - onCommit: see `Writer.write`.
    /// - Returns: nil when another request has changed the specification since; nothing is changed then.
    /// - Throws: `noSuchJob`, `revisionChanged`, `fieldsFixed`.
    public func patchJob(
        _ id: JobID, from before: JobSpec, to after: JobSpec, fields: Set<PatchableField>, expecting revision: Int?,
        onCommit: @escaping @Sendable (SignalOutcome?) -> Void = { _ in }
    ) async throws -> SignalOutcome? {
        try await writer.write(onCommit: onCommit) { transaction in
            if let revision { try transaction.requireRevision(revision, of: id) }
            return try transaction.patchJob(id, from: before, to: after, fields)
        }
    }
}
