import Base
import Downloads
import Foundation
import Storage

/// Deletes jobs some time after their end, in slices, so that requests do not wait for the removal.
struct FinishedJobPruner: Sendable {
    let services: EngineServices

    private static let jobsInACommit = 100

    func pass() async throws -> Date? {
        guard let retention = services.limits.withLock(\.storage.finishedRetention) else { return nil }
        let count = try await remove(past: retention)
        if count > 0 { services.log.info("Removed \(count) finished jobs.") }
        return applies(retention) ? services.nextPruning(after: retention.acknowledged) : services.time.now
    }

    /// Ends early if a client changes the retention: the next pass has the new one.
    private func remove(past retention: FinishedRetention) async throws -> Int {
        var (count, cursor): (Int, JobID?) = (0, nil)
        repeat {
            let (jobs, next) = try await services.store.finishedJobs(past: retention, after: cursor)
            for start in stride(from: 0, to: jobs.count, by: Self.jobsInACommit) {
                guard applies(retention) else { return count }
                let slice = Array(jobs[start..<min(start + Self.jobsInACommit, jobs.count)])
                count += try await delete(slice, past: retention)
            }
            cursor = next
        } while cursor != nil && !Task.isCancelled
        return count
    }

    /// Whether no client has changed the retention since the pass began.
    private func applies(_ retention: FinishedRetention) -> Bool {
        services.limits.withLock(\.storage.finishedRetention) == retention
    }

    /// The files come first: if fetchd dies before the commit, the next pass deletes the jobs, and no file is forgotten.
    ///
    /// - Returns: the number of deleted jobs. Those that a client wants to keep by now stay, and so do their files.
    func delete(_ jobs: [Job], past retention: FinishedRetention) async throws -> Int {
        let isDue: @Sendable () -> Bool = { applies(retention) }
        guard retention.deletesFiles else { return try await deleteRows(of: jobs, past: retention, while: isDue) }
        var (emptied, others): ([Job], [Job]) = ([], [])
        for job in jobs {
            switch try await removeFile(of: job, past: retention) {
            case .removed: emptied.append(job)
            case .isNotHere: others.append(job)
            case .stays: break
            }
        }
        // For a job whose file is gone, a change of the retention comes too late.
        return try await deleteRows(of: emptied, past: retention) { true }
            + deleteRows(of: others, past: retention, while: isDue)
    }

    private func deleteRows(
        of jobs: [Job], past retention: FinishedRetention, while applies: @escaping @Sendable () -> Bool
    ) async throws -> Int {
        guard !jobs.isEmpty else { return 0 }
        let deleted = try await services.store.deleteFinishedJobs(
            jobs, removingFilesElsewhere: retention.deletesFiles && services.locations.use.hasOwnFolder, while: applies)
        await services.removeParts(deleted.compactMap { $0.part?.id })
        return deleted.count
    }

    private enum FileOutcome {
        case removed, isNotHere, stays
    }

    /// It looks at the job and the retention directly before the removal. A client that has deleted the job, or changed
    /// the retention, keeps the file.
    private func removeFile(of job: Job, past retention: FinishedRetention) async throws -> FileOutcome {
        guard services.locations.use.hasFile(of: job), let file = job.state.finish?.file else { return .isNotHere }
        guard try await services.store.hasFinished(asDid: job) else { return .stays }
        do {
            let isRemoved = try await services.location(of: file).removeFile(file) { applies(retention) }
            return isRemoved ? .removed : .stays
        } catch let error as DiskError {
            services.log.warning("Could not \(error.action): \(error.reason). fetchd keeps the job \(job.id).")
            return .stays
        }
    }
}
