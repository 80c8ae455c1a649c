import Downloads
import Locks
import Storage

/// Keeps the responses to polls of jobs that do not run, because such a job is often polled and does not change.
final class JobRenderings: Sendable {
    private struct Entry {
        let source: CachedJob
        let rendering: JobRendering
    }

    private let entries = Locked<[JobID: Entry]>([:])

    /// - Parameter make: called without the lock held, if the job has changed since the last call.
    func rendering(of cached: CachedJob, make: () -> JobRendering?) -> JobRendering? {
        let id = cached.job.id
        if let entry = entries.withLock({ $0[id] }), entry.source === cached { return entry.rendering }
        guard let made = make() else { return nil }
        entries.withLock { entries in
            // About 4 KiB each. Starting again costs less than keeping them in the order of their use.
            if entries.count >= Self.limit { entries.removeAll(keepingCapacity: true) }
            entries[id] = Entry(source: cached, rendering: made)
        }
        return made
    }

    private static let limit = 2_048
}
