import Locks

/// Follows jobs until they are over, by the stream of events: what was before is read once, what happens is told, also
/// across restarts of the service.
struct Watch: Sendable {
    /// Whose jobs are followed.
    enum Scope: Sendable {
        /// These, until they have all ended.
        case jobs([JobDocument])
        /// Whatever a session has, or all of them have (nil), until nothing is outstanding.
        case session(String?)
    }

    let service: RemoteService
    /// Shared with whoever draws it.
    let tracker: Locked<JobTracker>
    let report: any WatchReport
    /// Called with a job's own document whenever its state is another one; nil spares reading them.
    var heard: (@Sendable (JSONText) async throws -> Void)?
    /// Goes on when everything is over.
    var isEndless = false

    /// - Parameter position: the last event before the jobs were read: what happened in between is told, perhaps twice,
    ///   never not.
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

    /// As narrow as one question can be.
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
                "fetchd is not answering at \(service.address). Its downloads go on when it is back; waiting for it.")
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

    /// A job that is new in a session that is watched, or that was over and is begun again.
    private func join(_ event: EventDocument, _ scope: Scope) async throws {
        guard case .session = scope, Self.beginnings.contains(event.type), let id = event.job,
            tracker.withLock({ $0[id] == nil })
        else { return }
        do {
            let job = try await service.job(id).document(JobDocument.self)
            try await tell { $0.put(job) }
        } catch let error as ClientError where error.status == .missing {
            // It is deleted again already.
        }
    }

    private static let beginnings: Set = ["job.created", "job.started", "job.waiting", "job.paused"]

    /// The journal has lost what was before: only the jobs themselves tell what has become of them.
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
                // It is deleted already, and the next event says so.
            }
        case .remarked, .deleted, nil: break
        }
    }
}
