import Base
import Formats

/// Follows jobs until they have ended. It reads their present state once and then the event stream, also through restarts of
/// the service.
struct Watch: Sendable {
    enum Scope: Sendable {
        /// These jobs, until all of them have ended.
        case jobs([JobDocument])
        /// The jobs of a session, or of all sessions (nil), until none is unfinished.
        case session(String?)
    }

    let service: RemoteService
    /// Shared with the report that draws it.
    let tracker: Locked<JobTracker>
    let report: any WatchReport
    /// Called with the document of a job after each change of its state. If it is nil, the documents are not read.
    var onDocument: (@Sendable (JSON) async throws -> Void)?
    /// Continue after all jobs have ended.
    var isEndless = false

    /// - Parameter position: the last event before the jobs were read. Events since then may be reported twice, but none is
    ///   missed.
    func run(_ scope: Scope, after position: Int64) async throws {
        for job in try await initialJobs(scope) { try await update { $0.put(job) } }
        guard continues else { return }
        var stream = EventStream(service, filter(scope), after: position)
        try await stream.listen { notice in
            try await process(notice, scope)
            return continues
        }
    }

    private var continues: Bool { isEndless || !tracker.withLock { $0.haveAllEnded } }

    private func initialJobs(_ scope: Scope) async throws(ClientError) -> [JobDocument] {
        switch scope {
        case .jobs(let jobs): return jobs
        case .session(let session): return try await service.outstandingJobs(of: session)
        }
    }

    /// The narrowest filter that one stream allows.
    private func filter(_ scope: Scope) -> EventStream.Filter {
        switch scope {
        case .session(let session): return .init(session: session)
        case .jobs(let jobs) where jobs.count == 1: return .init(job: jobs[0].id)
        case .jobs(let jobs):
            let sessions = Set(jobs.map(\.session))
            return .init(session: sessions.count == 1 ? sessions.first : nil)
        }
    }

    private func process(_ notice: EventStream.Notice, _ scope: Scope) async throws {
        switch notice {
        case .disconnected:
            report.serviceChanged(
                "fetchd is not answering at \(service.address). Waiting for it; its downloads continue when it is back."
            )
        case .outage(let error):
            report.serviceOutage(error)
        case .reconnected:
            report.serviceChanged("fetchd is back.")
        case .event(let event) where event.type == "reset":
            try await reload(scope)
        case .event(let event) where event.type == "job.progress":
            guard let progress = try? JSON(document: event.data.utf8).decoded(ProgressDocument.self) else { return }
            tracker.withLock { $0.apply(progress) }
            report.jobChanged(nil)
        case .event(let event):
            let text = JSON(document: event.data.utf8)
            guard let event = try? text.decoded(EventDocument.self) else { return }
            try await update { $0.apply(event, snapshot: text["data"]?["snapshot"].map { .text($0.written) }) }
            try await addIfNew(event, scope)
        }
    }

    /// Adds a new or retried job of a watched session.
    private func addIfNew(_ event: EventDocument, _ scope: Scope) async throws {
        guard case .session = scope, Self.beginnings.contains(event.type), let id = event.job,
            tracker.withLock({ $0[id] == nil })
        else { return }
        do {
            let job = try await service.job(id).document(JobDocument.self)
            try await update { $0.put(job) }
        } catch let error as ClientError where error.status == .missing {
            // The job was deleted meanwhile.
        }
    }

    private static let beginnings: Set = ["job.created", "job.started", "job.waiting", "job.paused"]

    /// Reads all jobs again, because the journal no longer has the next events.
    private func reload(_ scope: Scope) async throws {
        for job in tracker.withLock({ tracker in tracker.jobs.filter { !tracker.hasEnded($0) } }) {
            do {
                let job = try await service.job(job.id).document(JobDocument.self)
                try await update { $0.put(job) }
            } catch let error as ClientError where error.status == .missing {
                try await update { $0.remove(job.id) }
            }
        }
        guard case .session(let session) = scope else { return }
        for job in try await service.outstandingJobs(of: session) { try await update { $0.put(job) } }
    }

    private func update(_ change: (inout JobTracker) -> JobTracker.Change?) async throws {
        let change = tracker.withLock { change(&$0) }
        report.jobChanged(change)
        guard let onDocument else { return }
        switch change {
        case .added(let job), .stateChanged(let job):
            do {
                try await onDocument(service.job(job.id).text)
            } catch let error as ClientError where error.status == .missing {
                // The job was deleted meanwhile; the next event reports it.
            }
        case .remarked, .deleted, nil: break
        }
    }
}

/// Shows the progress of the watched jobs: as bars, as lines, or only if an action of the user is needed.
protocol WatchReport: Sendable {
    /// The tracker has changed; nil: only the progress has changed.
    func jobChanged(_ change: JobTracker.Change?)
    /// A remark about the service: it is unavailable, or available again.
    func serviceChanged(_ sentence: String)
    /// The service is unavailable for longer than a restart takes.
    func serviceOutage(_ error: ClientError)
}

extension WatchReport {
    /// By default nothing: reports that print remarks have already said that the service is unavailable.
    func serviceOutage(_ error: ClientError) {}
}

/// Prints a line for each change of state, for logs and output without a terminal.
struct LineReport: WatchReport {
    let console: Console

    func jobChanged(_ change: JobTracker.Change?) {
        switch change {
        case .added(let job), .stateChanged(let job):
            console.say("\(job.id) \(JobDescription.line(job))")
            if let advice = JobDescription.adviceOnTheWay(job) { console.say("  \(advice)") }
        case .remarked(let job, let remark): console.say("\(job.id) \(remark)")
        case .deleted(let job): console.say("\(job.id) was deleted: \(job.name)")
        case nil: break
        }
    }

    func serviceChanged(_ sentence: String) { console.say(sentence) }
}

/// Reports only problems that need an action of the user: a job that cannot continue automatically, or a service that stays
/// unavailable.
struct SilentReport: WatchReport {
    let console: Console

    func jobChanged(_ change: JobTracker.Change?) {
        switch change {
        case .added(let job), .stateChanged(let job):
            guard let neededAction = JobDescription.neededAction(job) else { return }
            console.warn("Action required", neededAction)
        case .remarked, .deleted, nil: break
        }
    }

    func serviceChanged(_ sentence: String) {}

    func serviceOutage(_ error: ClientError) {
        console.warn("fetchd cannot be reached", "\(error.sentence) Still waiting for it.")
    }
}
