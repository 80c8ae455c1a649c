import Foundation

/// What a caller asked a session to do. Commands are carried out in their order, and repeated until the service answers.
enum SessionCommand: Sendable {
    case submit(BackgroundDownloadTask, PendingTask, isRestored: Bool)
    case reject(BackgroundDownloadTask, FetchdError)
    case resume(BackgroundDownloadTask)
    case suspend(BackgroundDownloadTask)
    case cancel(BackgroundDownloadTask, producesResumeData: Bool, @Sendable (Data?) -> Void)
    case change(JobHelp, of: BackgroundDownloadTask)
    case supply(JobHelp, to: BackgroundDownloadTask, event: Int64)
    case acknowledge
}

/// Values of a job, such as those for which it waited, as the body of a PATCH.
struct JobHelp: Sendable, Encodable {
    var credentials: Credential?
    var url: String?
    var priority: DownloadRequest.Priority?
}

extension BackgroundSession {
    /// Takes a task from its first `resume()`. When it returns, the task survives a crash of this process.
    func handOver(_ task: BackgroundDownloadTask) {
        do throws(FetchdError) {
            guard let folder, !isClosed.current else { throw .invalid("The session has no delegate, or is closed.") }
            let content = task.content.current
            guard var request = try content.request?.get() else { return }
            if let description = content.taskDescription {
                request.metadata = (request.metadata ?? [:]).merging([JobDocument.descriptionName: description]) { $1 }
            }
            let pending = PendingTask(
                identifier: task.taskIdentifier, order: Int64(Date().timeIntervalSince1970 * 1e9), request: request,
                resumeFrom: content.resumeFrom)
            try folder.write(pending)
            commands.yield(.submit(task, pending, isRestored: false))
        } catch {
            // A session that follows nothing makes no call, but the task says why it has ended.
            task.complete(.refused(error))
            commands.yield(.reject(task, error))
        }
    }

    func carryOutCommands() async throws(FetchdError) {
        for await command in queuedCommands {
            switch command {
            case .submit(let task, let pending, let isRestored):
                try await submit(task, pending, isRestored: isRestored)
            case .reject(let task, let error): await end(task, .refused(error))
            case .resume(let task): try await act("resume", on: task)
            case .suspend(let task): try await act("pause", on: task)
            case .cancel(let task, let producesResumeData, let handler):
                try await cancel(task, producesResumeData: producesResumeData, handler)
            case .change(let help, let task): try await change(task, help)
            case .supply(let help, let task, let event):
                try await change(task, help)
                updateRecord { $0.closedChallenge(event) }
            case .acknowledge: try await acknowledgeAnswered()
            }
        }
    }

    private func submit(
        _ task: BackgroundDownloadTask, _ pending: PendingTask, isRestored: Bool
    ) async throws(FetchdError) {
        do throws(FetchdError) {
            let tag = JobDocument.tagPrefix + pending.identifier
            var job: JobDocument?
            if isRestored { job = try await self.job(withTag: tag) }
            if job == nil {
                let submission = JobSubmission(
                    request: pending.request, session: identifier, tag: tag, resumeFrom: pending.resumeFrom)
                job = try await service.persist(
                    "POST", "/v1/jobs", body: Wire.encoded(submission), headers: ["Idempotency-Key": pending.identifier]
                ).decoded(as: JobDocument.self)
            }
            if let job { register(job) }
        } catch {
            if error == .cancelled { throw error }
            await end(task, .refused(error))
        }
        folder?.removeTask(pending.identifier)
    }

    private func job(withTag tag: String) async throws(FetchdError) -> JobDocument? {
        let query = ["session": identifier, "tag": tag, "limit": "1"]
        return try await service.persist("GET", "/v1/jobs", query: query).decoded(as: JobPage.self).jobs.first
    }

    /// An action that the state of the job does not allow has no effect: the event of its new state follows.
    @discardableResult
    private func act(
        _ action: String, on task: BackgroundDownloadTask, body: Data? = nil
    ) async throws(FetchdError) -> JobDocument? {
        guard let job = task.jobIdentifier else { return nil }
        do throws(FetchdError) {
            return try await service.persist("POST", "/v1/jobs/\(job)/\(action)", body: body)
                .decoded(as: JobDocument.self)
        } catch {
            if error == .cancelled { throw error }
            return nil
        }
    }

    private func cancel(
        _ task: BackgroundDownloadTask, producesResumeData: Bool, _ handler: @Sendable (Data?) -> Void
    ) async throws(FetchdError) {
        guard task.jobIdentifier != nil else {
            // It was never resumed, or the service has refused it.
            handler(nil)
            if !task.content.current.isHandedOver { await end(task, .cancelled(resumeData: nil)) }
            return
        }
        let job = try await act(
            "cancel", on: task, body: Wire.encoded(["produce_resume_data": producesResumeData]))
        handler(producesResumeData ? job.flatMap(task.resumeData) : nil)
    }

    private func change(_ task: BackgroundDownloadTask, _ help: JobHelp) async throws(FetchdError) {
        guard let job = task.jobIdentifier else { return }
        do throws(FetchdError) {
            _ = try await service.persist("PATCH", "/v1/jobs/\(job)", body: Wire.encoded(help))
        } catch {
            if error == .cancelled { throw error }
        }
    }

    func acknowledgeAnswered(atMostOnce: Bool = false) async throws(FetchdError) {
        let through = record.current.acknowledged
        let body = try Wire.encoded(["through": through])
        if atMostOnce {
            _ = try await service.send("POST", path + "/acknowledge", body: body)
        } else {
            _ = try await service.persist("POST", path + "/acknowledge", body: body)
        }
        confirmed.withLock { $0 = max($0, through) }
    }

    /// Ends a task that has no job.
    private func end(_ task: BackgroundDownloadTask, _ error: DownloadError) async {
        task.complete(error)
        registry.remove(task)
        await inTurn { await $0.session(self, task: task, didCompleteWithError: error) }
    }
}
