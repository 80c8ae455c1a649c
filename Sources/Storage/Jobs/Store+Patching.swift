import Downloads
import Foundation

/// Changing what was asked for.
extension Store {
    /// Replaces what a job's client asked for, and lets the job go on where that is what it waited for.
    ///
    /// - Parameters:
    ///   - before: the specification that the change was made from; another one by now changes nothing.
    ///   - fields: which members were named.
    ///   - revision: nothing is done when the job has another one by now.
    ///   - onCommit: see `Writer`.
    /// - Returns: nil when the specification was changed meanwhile by somebody else.
    /// - Throws: `noSuchJob`, `revisionChanged`, `fieldsFixed`.
    public func patchJob(
        _ id: JobID, from before: JobSpec, to after: JobSpec, fields: Set<PatchableField>, expecting revision: Int?,
        onCommit: @escaping @Sendable (SignalOutcome?) -> Void = { _ in }
    ) async throws -> SignalOutcome? {
        try await writer.write(onCommit: onCommit) { transaction in
            if let revision { try transaction.requireRevision(revision, of: id) }
            let job = try transaction.job(id)
            guard job.spec == before else { return nil }
            return try transaction.patch(job, to: after, fields)
        }
    }
}
