import Foundation

extension BackgroundSession {
    func deliver(_ event: SessionEvent) async throws(FetchdError) {
        let calls = try await calls(for: event)
        // An event without a call is not recorded: reading it again has no effect.
        guard let last = calls.indices.last else { return }
        for (index, call) in calls.enumerated() where index >= record.current.calls(of: event.id) {
            try await make(call, for: event.id)
            if index < last { try await store { $0.recordCall(of: event.id) } }
        }
        try await store { $0.recordEvent(event.id) }
    }

    /// Delivers again what waits for its completion handler since an earlier process.
    func deliverOpenEvents() async throws(FetchdError) {
        let record = record.current
        for id in record.open where id <= record.event {
            let query = ["session": identifier, "after": "\(id - 1)", "limit": "1"]
            let page: EventPage
            do throws(FetchdError) {
                page = try await service.persist("GET", "/v1/events", query: query).decoded(as: EventPage.self)
            } catch .eventsLost {
                continue
            }
            guard let event = page.events.first, event.id == id else { continue }
            let calls = try await calls(for: event)
            // The job has the answer already, or has ended.
            if calls.isEmpty { try await store { $0.closedChallenge(id) } }
            for call in calls { try await make(call, for: id) }
        }
    }

    /// Makes the calls of the jobs that have ended in a gap of the journal.
    func completeEndedTasks() async throws(FetchdError) {
        for task in registry.all {
            guard let id = task.jobIdentifier, let job = try await job(id), let result = job.result else { continue }
            switch result {
            case .success(let file): for call in ending(task, file) { try await make(call, for: 0) }
            case .failure(let error): try await make(.completed(task, error), for: 0)
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
        default: return nil
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

/// Makes delegate calls, one at a time.
extension BackgroundSession {
    func deliver(_ item: JobProgress) async {
        guard let task = registry.task(ofJob: item.job), let count = task.follow(item.progress), count > 0 else {
            return
        }
        await inTurn {
            await $0.session(
                self, downloadTask: task, didWriteData: count, totalBytesWritten: item.progress.bytesReceived,
                totalBytesExpectedToWrite: item.progress.bytesExpected ?? -1)
        }
    }

    private func make(_ call: DelegateCall, for event: Int64) async throws(FetchdError) {
        switch call {
        case .resumed(let task, let offset, let expected):
            await inTurn {
                await $0.session(
                    self, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: expected ?? -1)
            }
        case .offline(let task):
            await inTurn { await $0.session(self, taskIsWaitingForConnectivity: task) }
        case .finished(let task, let file): try await handOut(file, of: task)
        case .completed(let task, let error):
            // The file was not there any more.
            let error = error ?? task.error
            task.complete(error)
            registry.remove(task)
            await inTurn { await $0.session(self, task: task, didCompleteWithError: error) }
        case .challenged(let task, let challenge):
            try await store { $0.openedChallenge(event) }
            await inTurn { delegate in
                await delegate.session(self, task: task, didReceive: challenge) {
                    self.answer(task, with: $0, to: event)
                }
            }
        case .expired(let task, let message):
            try await store { $0.openedChallenge(event) }
            await inTurn {
                await $0.session(self, task: task, linkDidExpireWithMessage: message) { url in
                    guard let url else { return task.cancel() }
                    self.commands.yield(.supply(JobHelp(url: url.absoluteString), to: task, event: event))
                }
            }
        case .batchFinished(let batch):
            try await store { $0.openedFinish(event) }
            await inTurn {
                await $0.sessionDidFinishEvents(for: self, batch: batch) {
                    self.updateRecord { $0.answeredFinish(event) }
                    self.commands.yield(.acknowledge)
                }
            }
        }
    }

    private func answer(_ task: BackgroundDownloadTask, with disposition: ChallengeDisposition, to event: Int64) {
        switch disposition {
        case .performDefaultHandling: return
        case .cancelAuthenticationChallenge: task.cancel()
        case .useCredential(let credential):
            commands.yield(.supply(JobHelp(credentials: credential), to: task, event: event))
        }
    }

    private func handOut(_ file: FinishedFile, of task: BackgroundDownloadTask) async throws(FetchdError) {
        if let downloads = configuration.downloadsFolder {
            let place = downloads.appending(path: file.path)
            guard let location = await placed(place, of: task, keepsOriginal: true) else { return }
            return await inTurn { await $0.session(self, downloadTask: task, didFinishDownloadingTo: location) }
        }
        guard let folder, let job = task.jobIdentifier else { return }
        let location = folder.files.appending(path: "\(job).download")
        do throws(FetchdError) {
            try await service.copy(fileOf: job, size: file.size, to: location)
        } catch {
            if error == .cancelled { throw error }
            task.complete(.refused(error))
            return
        }
        guard let place = await placed(location, of: task, keepsOriginal: false) else { return }
        await inTurn { await $0.session(self, downloadTask: task, didFinishDownloadingTo: place) }
        try? FileManager.default.removeItem(at: location)
    }

    /// Brings the file to where the delegate wants it, and returns where it is then; nil if that failed.
    private func placed(_ file: URL, of task: BackgroundDownloadTask, keepsOriginal: Bool) async -> URL? {
        guard let response = task.response else { return file }
        let wanted = Guarded<URL?>(nil)
        await inTurn { delegate in
            let url = await delegate.session(
                self, downloadTask: task, destinationFor: file, response: response)
            wanted.withLock { $0 = url }
        }
        guard let destination = wanted.current else { return file }
        do throws(FetchdError) {
            try createFolder(of: destination)
            try replace(destination, with: file, keepsOriginal: keepsOriginal)
            return destination
        } catch {
            task.complete(.refused(error))
            return nil
        }
    }

    /// The file that was there stays until the other one is complete.
    private func replace(_ destination: URL, with file: URL, keepsOriginal: Bool) throws(FetchdError) {
        let draft = destination.appendingPathExtension("\(UUID().uuidString).part")
        do {
            try keepsOriginal
                ? FileManager.default.copyItem(at: file, to: draft) : FileManager.default.moveItem(at: file, to: draft)
        } catch {
            throw .invalid("\(destination.path) cannot be written: \(error.localizedDescription)")
        }
        guard rename(draft.path, destination.path) == 0 else {
            throw .invalid("\(destination.path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}

enum DelegateCall {
    case resumed(BackgroundDownloadTask, offset: Int64, expected: Int64?)
    case finished(BackgroundDownloadTask, FinishedFile)
    case completed(BackgroundDownloadTask, DownloadError?)
    case challenged(BackgroundDownloadTask, AuthenticationChallenge)
    case expired(BackgroundDownloadTask, String)
    case offline(BackgroundDownloadTask)
    case batchFinished(FinishedBatch)
}
