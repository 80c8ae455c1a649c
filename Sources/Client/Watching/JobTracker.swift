import ArgumentParser
import Formats

struct JobTracker: Sendable {
    /// The change by one event, for reports that print a line for each change.
    enum Change: Sendable, Equatable {
        case added(JobDocument)
        case stateChanged(JobDocument)
        /// A remark about a running job: it has restarted or resumed.
        case remarked(JobDocument, String)
        /// The job was deleted before it ended.
        case deleted(JobDocument)
    }

    private(set) var jobs: [JobDocument] = []
    /// The complete documents of ended jobs, from the journal.
    private(set) var snapshots: [String: JSON] = [:]
    private var places: [String: Int] = [:]
    private var deleted: Set<String> = []
    /// The number of the last event of each job. Earlier events are ignored.
    private var lastEvents: [String: Int64] = [:]
    /// The number of unfinished jobs. It is stored, because it is read after each of many thousand events.
    private var openCount = 0

    init() {}

    subscript(_ id: String) -> JobDocument? { places[id].map { jobs[$0] } }

    var haveAllEnded: Bool { openCount == 0 }
    var haveAllSucceeded: Bool { jobs.allSatisfy(\.hasSucceeded) }

    /// The exit status for jobs that have ended; nil if all have succeeded.
    var failure: ExitCode? {
        let failed = jobs.filter { !$0.hasSucceeded }
        guard !failed.isEmpty else { return nil }
        return failed.allSatisfy { $0.failure?.isOfVerification ?? false } ? .downloadUnverified : .downloadFailed
    }

    func hasEnded(_ job: JobDocument) -> Bool { job.hasEnded || isDeleted(job) }
    func isDeleted(_ job: JobDocument) -> Bool { deleted.contains(job.id) }

    /// Adds a job, or replaces it after it was read again.
    mutating func put(_ job: JobDocument) -> Change? {
        guard let place = places[job.id] else {
            places[job.id] = jobs.count
            jobs.append(job)
            if !job.hasEnded { openCount += 1 }
            return .added(job)
        }
        return replace(place, by: job)
    }

    /// - Parameter snapshot: the snapshot of the event, as text.
    /// - Returns: nil if there is nothing to report.
    mutating func apply(_ event: EventDocument, snapshot: JSON? = nil) -> Change? {
        guard let id = event.job, let place = places[id], isNews(event, of: jobs[place]) else { return nil }
        lastEvents[id] = event.id
        var job = jobs[place]
        switch event.type {
        case "job.succeeded", "job.failed", "job.cancelled":
            guard var ended = event.data.snapshot else { return nil }
            // Events have URLs without their query.
            ended.url = job.url
            snapshots[id] = snapshot
            return replace(place, by: ended)
        case "job.started":
            job.begin("running", phase: "connecting")
        case "job.waiting":
            job.begin("waiting")
            job.reason = event.data.reason
            job.retryAt = event.data.retryAt
        case "job.paused":
            job.begin("paused")
        case "job.resumed":
            return .remarked(job, "continues from \(DisplayFormat.bytes(event.data.offset ?? 0))")
        case "job.restarted":
            return .remarked(job, "starts from the beginning: \(event.data.why ?? "it cannot continue from its bytes")")
        case "job.deleted":
            return remove(id)
        default:
            return nil
        }
        return replace(place, by: job)
    }

    /// Whether the event is newer than the known state. An ended job can be retried; such events are later than its end.
    private func isNews(_ event: EventDocument, of job: JobDocument) -> Bool {
        guard !isDeleted(job), event.id > lastEvents[job.id] ?? 0 else { return false }
        // All times of the service have the same format, so they can be compared as text.
        guard job.hasEnded, let end = job.finishedAt else { return true }
        return event.time >= end
    }

    mutating func apply(_ report: ProgressDocument) {
        guard let place = places[report.job], !hasEnded(jobs[place]) else { return }
        jobs[place].state = "running"
        jobs[place].phase = report.phase
        jobs[place].progress = report.progress
    }

    mutating func remove(_ id: String) -> Change? {
        guard let place = places[id], !isDeleted(jobs[place]) else { return nil }
        deleted.insert(id)
        // The end of an ended job has been reported already.
        guard !jobs[place].hasEnded else { return nil }
        openCount -= 1
        return .deleted(jobs[place])
    }

    private mutating func replace(_ place: Int, by job: JobDocument) -> Change? {
        let before = jobs[place]
        jobs[place] = job
        if !before.hasEnded, job.hasEnded { openCount -= 1 }
        if before.hasEnded, !job.hasEnded { openCount += 1 }
        if job.state != "running" { jobs[place].progress.bytesPerSecond = nil }
        let isSame = before.state == job.state && before.reason == job.reason && before.retryAt == job.retryAt
        return isSame ? nil : .stateChanged(jobs[place])
    }
}

extension JobDocument {
    /// Sets a state of an unfinished job, and clears the members of the previous state.
    fileprivate mutating func begin(_ state: String, phase: String? = nil) {
        self.state = state
        self.phase = phase
        reason = nil
        retryAt = nil
        failure = nil
        file = nil
        finishedAt = nil
    }
}
