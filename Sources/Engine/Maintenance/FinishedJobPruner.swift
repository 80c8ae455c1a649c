import Downloads
import Foundation
import Locks
import Storage

/// Deletes jobs some time after their end, in slices, so that requests do not wait for the removal.
struct FinishedJobPruner: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes; nil: a tenth of the retention, at least 1 second, at most 1 hour.
    let interval: TimeInterval?

    let purpose = "remove finished jobs"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.finishedRetention }

    /// The number of jobs that one commit deletes.
    private static let jobsInACommit = 100

    func pass() async throws -> Date? {
        guard let retention = services.storageLimits.finishedRetention else { return nil }
        let count = try await remove(past: retention)
        if count > 0 { services.log.info("Removed \(count) finished jobs.") }
        guard services.storageLimits.finishedRetention == retention else { return services.time.now }
        return services.time.now.addingTimeInterval(interval ?? min(max(retention.acknowledged / 10, 1), 3600))
    }

    /// Ends early if a client changes the retention: the next pass has the new one.
    ///
    /// - Returns: the number of removed jobs.
    private func remove(past retention: FinishedRetention) async throws -> Int {
        var (count, cursor): (Int, JobID?) = (0, nil)
        repeat {
            let (jobs, next) = try await services.store.finishedJobs(past: retention, after: cursor)
            for start in stride(from: 0, to: jobs.count, by: Self.jobsInACommit) {
                guard services.storageLimits.finishedRetention == retention else { return count }
                let slice = Array(jobs[start..<min(start + Self.jobsInACommit, jobs.count)])
                count += try await delete(slice, withFiles: retention.deletesFiles)
            }
            cursor = next
        } while cursor != nil && !Task.isCancelled
        return count
    }

    /// The files come first: if fetchd dies before the commit, the next pass deletes the jobs, and no file is forgotten.
    private func delete(_ jobs: [Job], withFiles deletesFiles: Bool) async throws -> Int {
        let removable = deletesFiles ? try await removeFiles(of: jobs) : jobs
        let deleted = try await services.store.deleteFinishedJobs(
            removable, removingFilesElsewhere: deletesFiles && services.folder.use.hasOwnFolder)
        await services.removeParts(deleted.compactMap { $0.part?.id })
        return deleted.count
    }

    /// - Returns: the jobs without those whose file could not be removed.
    private func removeFiles(of jobs: [Job]) async throws -> [Job] {
        try await services.lanes.metadata.run { [folder = services.folder, log = services.log] in
            jobs.filter { job in
                guard folder.use.hasFile(of: job), let file = job.state.finish?.file else { return true }
                do throws(DiskError) {
                    try folder.removeFile(file)
                    return true
                } catch {
                    log.warning("Could not \(error.action): \(error.reason). fetchd keeps the job \(job.id).")
                    return false
                }
            }
        }
    }
}
