import Downloads
import HTTPServer
import HTTPTypes
import Storage

/// `GET /v1/sessions/{session}`: returns the status of the session at once, or when no job is outstanding.
extension SessionRoutes {
    func show(_ context: RequestContext) async throws -> Response {
        let session = try context.name("session")
        let goal = try context.query { query throws(Problem) in try query.choice("until", of: Goal.self) }
        guard goal == .idle, let seconds = context.preferredWait, seconds > 0 else {
            return try await store.session(session).response()
        }
        var response = try await statusOnceIdle(session, within: .seconds(seconds)).response()
        response.headers[.preferenceApplied] = "wait=\(seconds)"
        return response
    }

    private enum Goal: String, CaseIterable { case idle }

    /// Reads the status only when as many jobs have ended as were outstanding at the last read: before, the session cannot be
    /// idle.
    private func statusOnceIdle(_ session: Name, within duration: Duration) async throws -> SessionStatus {
        let deadline = ContinuousClock.now + duration
        // The watcher is registered before the first read, so that no end is missed in between.
        let watcher = feed.watcher(of: [.journal(.session(session))])
        defer { feed.dismiss(watcher) }
        while true {
            // Before the read, which can also have later events. These count twice, which costs a read too many.
            var position = feed.lastEvent
            let status = try await store.session(session)
            var left = status.counts.reduce(0) { $0 + ($1.key.isOutstanding ? $1.value : 0) }
            guard left > 0 else { return status }
            while left > 0 {
                guard try await feed.nextChange(watcher, until: deadline) == .rung else {
                    return try await store.session(session)
                }
                guard let endings = feed.endings(of: session, after: &position) else { break }
                left -= endings
            }
        }
    }
}

extension Feed {
    /// The number of jobs of a session that have ended after a position, which moves to the last event.
    ///
    /// - Returns: nil when memory no longer has all events after the position.
    fileprivate func endings(of session: Name, after position: inout EventID) -> Int? {
        guard let page = page(EventQuery(after: position, session: session, limit: .max)) else { return nil }
        position = page.nextAfter
        return page.events.count { $0.type.isEnd }
    }
}

extension EventType {
    fileprivate var isEnd: Bool {
        switch self {
        case .jobSucceeded, .jobFailed, .jobCancelled: true
        case .jobCreated, .jobMoved, .jobStarted, .jobResumed, .jobRestarted, .jobWaiting, .jobPaused, .jobDeleted,
            .sessionWaiting, .sessionFinished, .webhookDisabled, .webhookTest:
            false
        }
    }
}
