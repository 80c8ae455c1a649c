import Locks

/// Follows jobs until they have ended. It reads their present state once and then the event stream, also through restarts of
/// the service.
struct Watch: Sendable {
    /// The jobs to follow.
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
    var heard: (@Sendable (JSONText) async throws -> Void)?
    /// Continue after all jobs have ended.
    var isEndless = false

    /// - Parameter position: the last event before the jobs were read. Events since then may be reported twice, but none is
    ///   missed.
    func run(_ scope: Scope, after position: Int64) async throws {
        for job in try await known(scope) { try await tell { $0.put(job) } }
        guard goesOn else { return }
        var stream = EventStream(service, filter(scope), after: position)
        try await stream.listen { notice in
            try await take(notice, scope)
            return goesOn
        }
    }

    private var goesOn: Bool { isEndless || !tracker.withLock { $0.areAllOver } }

    private func known(_ scope: Scope) async throws(ClientError) -> [JobDocument] {
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

    private func take(_ notice: EventStream.Notice, _ scope: Scope) async throws {
        switch notice {
        case .lost:
            report.remarked(
                "fetchd is not answering at \(service.address). Waiting for it; its downloads continue when it is back."
            )
        case .missed(let error):
            report.missed(error)
        case .back:
            report.remarked("fetchd is back.")
        case .event(let event) where event.type == "reset":
            try await readAnew(scope)
        case .event(let event) where event.type == "job.progress":
            guard let progress = try? JSONText(Array(event.data.utf8)).decoded(ProgressDocument.self) else { return }
            tracker.withLock { $0.apply(progress) }
            report.told(nil)
        case .event(let event):
            let text = JSONText(Array(event.data.utf8))
            guard let event = try? text.decoded(EventDocument.self) else { return }
            try await tell { $0.apply(event, snapshot: text["data"]?["snapshot"]) }
            try await join(event, scope)
        }
    }

    /// Adds a new or retried job of a watched session.
    private func join(_ event: EventDocument, _ scope: Scope) async throws {
        guard case .session = scope, Self.beginnings.contains(event.type), let id = event.job,
            tracker.withLock({ $0[id] == nil })
        else { return }
        do {
            let job = try await service.job(id).document(JobDocument.self)
            try await tell { $0.put(job) }
        } catch let error as ClientError where error.status == .missing {
            // The job was deleted meanwhile.
        }
    }

    private static let beginnings: Set = ["job.created", "job.started", "job.waiting", "job.paused"]

    /// Reads all jobs again, because the journal no longer has the next events.
    private func readAnew(_ scope: Scope) async throws {
        for job in tracker.withLock({ tracker in tracker.jobs.filter { !tracker.isOver($0) } }) {
            do {
                let job = try await service.job(job.id).document(JobDocument.self)
                try await tell { $0.put(job) }
            } catch let error as ClientError where error.status == .missing {
                try await tell { $0.remove(job.id) }
            }
        }
        guard case .session(let session) = scope else { return }
        for job in try await service.outstandingJobs(of: session) { try await tell { $0.put(job) } }
    }

    private func tell(_ change: (inout JobTracker) -> JobTracker.Change?) async throws {
        let change = tracker.withLock { change(&$0) }
        report.told(change)
        guard let heard else { return }
        switch change {
        case .added(let job), .moved(let job):
            do {
                try await heard(JSONText(service.job(job.id).body))
            } catch let error as ClientError where error.status == .missing {
                // The job was deleted meanwhile; the next event reports it.
            }
        case .remarked, .deleted, nil: break
        }
    }
}
