/// Jobs that are watched, as a value that is told what the stream says.
struct JobTracker: Sendable {
    /// What the latest notice has changed, for those who tell of it line by line.
    enum Change: Sendable, Equatable {
        case added(JobDocument)
        case moved(JobDocument)
        /// Something on its way, in words: a restart, a resumption.
        case remarked(JobDocument, String)
        /// It was deleted, and there is nothing more to be told of it.
        case deleted(JobDocument)
    }

    private(set) var jobs: [JobDocument] = []
    /// The whole documents of those that have ended, as the journal has them.
    private(set) var snapshots: [String: JSONText] = [:]
    private var places: [String: Int] = [:]
    private var deleted: Set<String> = []
    /// The number of the last event of each job: what was before is no news.
    private var lastEvents: [String: Int64] = [:]
    /// How many are not over: asked after each of many thousand events.
    private var openCount = 0

    init() {}

    subscript(_ id: String) -> JobDocument? { places[id].map { jobs[$0] } }

    var areAllOver: Bool { openCount == 0 }
    var haveAllSucceeded: Bool { jobs.allSatisfy(\.hasSucceeded) }

    func isOver(_ job: JobDocument) -> Bool { job.hasEnded || isDeleted(job) }
    func isDeleted(_ job: JobDocument) -> Bool { deleted.contains(job.id) }

    /// A job as the API has it: a new one, or one that is read anew.
    mutating func put(_ job: JobDocument) -> Change? {
        guard let place = places[job.id] else {
            places[job.id] = jobs.count
            jobs.append(job)
            if !job.hasEnded { openCount += 1 }
            return .added(job)
        }
        return replace(place, by: job)
    }

    /// - Parameter snapshot: the event's, as text.
    /// - Returns: nil where nothing has changed that is worth a line.
    mutating func apply(_ event: EventDocument, snapshot: JSONText? = nil) -> Change? {
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
            (job.reason, job.retryAt) = (event.data.reason, event.data.retryAt)
        case "job.paused":
            job.begin("paused")
        case "job.resumed":
            return .remarked(job, "goes on from \(DisplayFormat.bytes(event.data.offset ?? 0))")
        case "job.restarted":
            return .remarked(job, "begins anew: \(event.data.why ?? "its bytes cannot be gone on from")")
        case "job.deleted":
            return remove(id)
        default:
            return nil
        }
        return replace(place, by: job)
    }

    /// A job that has ended may be begun again (`retry`), which is later than its end.
    private func isNews(_ event: EventDocument, of job: JobDocument) -> Bool {
        guard !isDeleted(job), event.id > lastEvents[job.id] ?? 0 else { return false }
        // The service's times are all of one form, in which the later one is the greater text.
        guard job.hasEnded, let end = job.finishedAt else { return true }
        return event.time >= end
    }

    mutating func apply(_ report: ProgressDocument) {
        guard let place = places[report.job], !isOver(jobs[place]) else { return }
        jobs[place].state = "running"
        jobs[place].phase = report.phase
        jobs[place].progress = report.progress
    }

    mutating func remove(_ id: String) -> Change? {
        guard let place = places[id], !isDeleted(jobs[place]) else { return nil }
        deleted.insert(id)
        // What had ended was told before.
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
        return isSame ? nil : .moved(jobs[place])
    }
}

extension JobDocument {
    /// Into a state that is no end, from whichever it was in.
    fileprivate mutating func begin(_ state: String, phase: String? = nil) {
        (self.state, self.phase, reason, retryAt) = (state, phase, nil, nil)
        (failure, file, finishedAt) = (nil, nil, nil)
    }
}
