import Downloads
import Foundation

extension Store {
    /// Waits until the job has changed, at most about a second. Another node changes it.
    ///
    /// - Throws: `CancellationError`.
    public func waitForChange(of job: Job) async throws {
        let end = time.uptime + .seconds(1)
        while time.uptime < end {
            // The job is in the cache until the other node has changed it, so this reads memory.
            guard let present = try? await self.job(job.id), present.revision == job.revision else { return }
            try await time.sleep(untilUptime: time.uptime + .milliseconds(10))
        }
    }
}
