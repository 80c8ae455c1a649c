import Foundation

/// Turns events into delegate calls.
extension BackgroundSession {
    func deliver(_ event: SessionEvent, to delegate: any BackgroundSessionDelegate) async throws(FetchdError) {
        let calls = try await calls(for: event)
        // An event without a call is not recorded: reading it again has no effect.
        guard let last = calls.indices.last else { return }
        for (index, call) in calls.enumerated() where index >= record.current.calls(of: event.id) {
            try await make(call, for: event.id, delegate)
            if index < last { try await store { $0.recordCall(of: event.id) } }
        }
        try await store { $0.recordEvent(event.id) }
    }

    /// Delivers again what waits for its completion handler since an earlier process.
    func deliverOpenEvents(_ delegate: any BackgroundSessionDelegate) async throws(FetchdError) {
        let record = record.current
        for id in record.open where id <= record.event {
            let query = ["session": identifier, "after": "\(id - 1)", "limit": "1"]
            let page: EventPage
            do throws(FetchdError) {
                page = try await service.persist(
                    "GET", "/v1/events", query: query.map { URLQueryItem(name: $0.key, value: $0.value) }
                ).decoded(as: EventPage.self)
            } catch .eventsLost {
                continue
            }
            guard let event = page.events.first, event.id == id else { continue }
            let calls = try await calls(for: event)
            // The job has the answer already, or has ended.
            if calls.isEmpty { try await store { $0.closedChallenge(id) } }
            for call in calls { try await make(call, for: id, delegate) }
        }
    }

    /// After a gap in the journal: the calls of the jobs that have ended in it.
    func completeEndedTasks(_ delegate: any BackgroundSessionDelegate) async throws(FetchdError) {
        for task in registry.all {
            guard let id = task.jobIdentifier, let job = try await job(id), let result = job.result else { continue }
            switch result {
            case .success(let file): for call in ending(task, file) { try await make(call, for: 0, delegate) }
            case .failure(let error): try await make(.completed(task, error), for: 0, delegate)
            }
        }
    }

    private func calls(for event: SessionEvent) async throws(FetchdError) -> [DelegateCall] {
        if case .sessionFinished(let batch) = event.kind {
            return record.withLock { $0.isAnswered(event.id) } ? [] : [.batchFinished(batch)]
        }
        guard let task = try await task(of: event) else { return [] }
        task.follow(event.kind)
        switch event.kind {
        case .jobResumed(let offset, let expected): return [.resumed(task, offset: offset, expected: expected)]
        case .jobSucceeded(let file): return ending(task, file)
        case .jobEnded(let error): return [.completed(task, resumable(error, task))]
        case .jobWaiting(let reason, let challenge): return try await calls(for: task, waitingFor: reason, challenge)
        case .jobCreated, .jobStarted, .jobRestarted, .jobPaused, .jobDeleted, .sessionFinished, .other: return []
        }
    }

    private func ending(_ task: BackgroundDownloadTask, _ file: FinishedFile) -> [DelegateCall] {
        [.finished(task, file), .completed(task, nil)]
    }

    /// The resume data with the request, if this process knows it.
    private func resumable(_ error: DownloadError, _ task: BackgroundDownloadTask) -> DownloadError {
        guard let data = error.resumeData, let content = try? ResumeData(data),
            let request = try? task.content.current.request?.get()
        else { return error }
        let complete = ResumeData(job: content.job, request: request, url: content.url).encoded
        switch error {
        case .cancelled: return .cancelled(resumeData: complete)
        case .failed(let failure, _): return .failed(failure, resumeData: complete)
        case .refused: return error
        }
    }

    /// A challenge counts only while the job waits for the answer.
    private func calls(
        for task: BackgroundDownloadTask, waitingFor reason: String, _ challenge: AuthenticationChallenge
    ) async throws(FetchdError) -> [DelegateCall] {
        switch reason {
        case "network": return [.offline(task)]
        case "credentials", "url":
            guard let id = task.jobIdentifier, let job = try await job(id), job.state == .waiting,
                job.reason == reason
            else { return [] }
            return reason == "url" ? [.expired(task, challenge.message)] : [.challenged(task, challenge)]
        default: return []
        }
    }

    /// nil for a job that was deleted.
    private func task(of event: SessionEvent) async throws(FetchdError) -> BackgroundDownloadTask? {
        guard let id = event.job else { return nil }
        if let snapshot = event.snapshot { return register(snapshot) }
        if let task = registry.task(ofJob: id) { return task }
        switch event.kind {
        case .jobResumed, .jobWaiting: return try await job(id).map(register)
        case .jobCreated, .jobStarted, .jobRestarted, .jobPaused, .jobSucceeded, .jobEnded, .jobDeleted,
            .sessionFinished, .other:
            return nil
        }
    }

    /// nil if it was deleted.
    private func job(_ id: String) async throws(FetchdError) -> JobDocument? {
        do throws(FetchdError) {
            return try await service.persist("GET", "/v1/jobs/\(id)").decoded(as: JobDocument.self)
        } catch  where error.isMissing {
            return nil
        }
    }
}
