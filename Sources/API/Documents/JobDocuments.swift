import Downloads
import Locks
import Storage

/// Keeps the documents of jobs that do not run, because pages of the list have the same jobs again and again.
final class JobDocuments: Sendable {
    private struct Entry {
        let source: CachedJob
        let document: [UInt8]
    }

    private let entries = Locked<[JobID: Entry]>([:])

    /// The number of kept documents.
    var count: Int { entries.withLock { $0.count } }

    /// The documents of the jobs, in their order.
    ///
    /// - Parameter make: called without the lock held, for the jobs that run or have changed since the last call.
    func documents(of jobs: [CachedJob], make: (Job) -> [UInt8]) -> [[UInt8]] {
        let known = entries.withLock { entries in
            jobs.map { job in entries[job.job.id].flatMap { $0.source === job ? $0.document : nil } }
        }
        var made: [Entry] = []
        let documents = zip(jobs, known).map { job, known in
            if let known { return known }
            let document = make(job.job)
            // The progress of a running job changes without a commit.
            if job.job.state.name != .running, document.count <= Self.largestKept {
                made.append(Entry(source: job, document: document))
            }
            return document
        }
        if !made.isEmpty { keep(made) }
        return documents
    }

    private func keep(_ made: [Entry]) {
        entries.withLock { entries in
            // About 1 KiB each. Starting again costs less than keeping them in the order of their use.
            if entries.count + made.count > Self.limit { entries.removeAll(keepingCapacity: true) }
            for entry in made { entries[entry.source.job.id] = entry }
        }
    }

    private static let limit = 4_096
    /// Bytes. A few jobs have many large headers.
    static let largestKept = 8 << 10
}
