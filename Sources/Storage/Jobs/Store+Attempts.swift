import Downloads
import Foundation
import GRDB

/// What clients and attempts have to tell. Each of these is one transaction: state, offset and event together.
extension Store {
    /// - Parameters:
    ///   - revision: nothing is done when the job has another one by now.
    ///   - onCommit: see `Writer`.
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

    /// Signals to many jobs in one commit: many small files share their syncs. A job that is gone is left out.
    public func apply(
        _ signals: [(job: JobID, signal: JobSignal, report: AttemptReport)],
        onCommit: @escaping @Sendable ([JobID: SignalOutcome]) -> Void = { _ in }
    ) async throws -> [JobID: SignalOutcome] {
        try await writer.write(onCommit: onCommit) { transaction in
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

    /// The server's head was judged: how the attempt begins. A part that cannot be continued is given up here.
    ///
    /// - Parameters:
    ///   - admitted: the job as it was admitted.
    ///   - dropped: a part of this attempt that is given up with it.
    public func beginTransfer(
        of admitted: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil
    ) async throws {
        try await writer.write { transaction in
            var job = try transaction.job(admitted.id)
            guard job.isAttempting(admitted.attempts) else { return }
            job.resume = outcome
            // The outcome says it.
            job.isPartLost = false
            job.hasSyncFailed = false
            try transaction.update(job)
            switch outcome {
            case .fresh: break
            case .resumed: try transaction.announce(.jobResumed, of: job)
            case .restarted:
                // By name: a checkpoint may have promised the new part meanwhile.
                for part in [admitted.part?.id, dropped].compactMap({ $0 }) { try transaction.removePart(part) }
                try transaction.announce(.jobRestarted, of: job)
            }
        }
    }

    /// Offsets that have been synced, all in one commit. Those of jobs whose attempt is over meanwhile are left out.
    public func checkpoint(_ parts: [(job: JobID, attempt: Int, part: Part)]) async throws {
        guard !parts.isEmpty else { return }
        try await writer.write { transaction in
            for (id, attempt, part) in parts {
                guard let job = try? transaction.job(id), job.isAttempting(attempt) else { continue }
                try transaction.save(part, of: id)
                if job.isPartLost { try transaction.run("UPDATE jobs SET part_lost = 0 WHERE id = ?", [id.text]) }
            }
        }
    }

    /// After a start: jobs that were under way when the service stopped are queued again; those whose file was on its
    /// way to its place are returned, to be carried on.
    public func recoverInterrupted() async throws -> (interrupted: Int, promoting: [AdmittedJob]) {
        try await writer.write { transaction in
            let running = try transaction.rows(JobRow.select + "WHERE jobs.state = 'running'").map(JobRow.job)
            let promoting = running.filter { $0.state.promotion != nil }
            for job in running where job.state.promotion == nil {
                _ = try transaction.transitionJob(job, on: .attemptInterrupted)
            }
            transaction.wake(.jobs)
            let admitted = try promoting.map { job in
                AdmittedJob(job: job, spec: ResolvedSpec(job, in: try transaction.configuration(of: job.session)))
            }
            return (running.count - promoting.count, admitted)
        }
    }
}
