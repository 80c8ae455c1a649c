import Foundation

extension BackgroundSession {
    func run(_ folder: StateFolder) async {
        let error = await failure(in: folder)
        isAttached.open()
        // The session that this process deletes is expected to be missing.
        guard error != .cancelled else { return }
        failure.withLock { $0 = error }
        guard !isClosed.exchange(true) else { return }
        commands.finish()
        folder.unlock()
        await delegate?.session(self, didBecomeInvalidWithError: error)
    }

    private func failure(in folder: StateFolder) async -> FetchdError {
        do throws(FetchdError) {
            try await attach(folder)
            try await findTasks(folder)
            isAttached.open()
            try await deliverOpenEvents()
            return await withTaskGroup(of: FetchdError?.self) { group in
                group.addTask { await Self.failure { () throws(FetchdError) in try await self.follow() } }
                group.addTask { await Self.failure { () throws(FetchdError) in try await self.carryOutCommands() } }
                let first = await group.next()
                group.cancelAll()
                return first?.flatMap(\.self) ?? .cancelled
            }
        } catch {
            return error
        }
    }

    private func attach(_ folder: StateFolder) async throws(FetchdError) {
        let session = try await declare(acknowledges: true)
        let stored = folder.record()
        record.withLock { $0 = stored ?? SessionRecord(after: session.acknowledgedThrough) }
        position.withLock { $0 = record.current.event }
        confirmed.withLock { $0 = session.acknowledgedThrough }
        if stored == nil { try await store { _ in } }
        // The process may have died between the completion handler and the acknowledgement.
        if record.current.acknowledged > session.acknowledgedThrough { commands.yield(.acknowledge) }
    }

    /// Creates the session, or changes those settings of it that this configuration has. Settings of other programs stay.
    ///
    /// - Parameter acknowledges: whether this client acknowledges finishes. The session then waits for that, unless it says
    ///   otherwise.
    func declare(acknowledges: Bool = false) async throws(FetchdError) -> SessionDocument {
        let session = try await changeOrCreate()
        guard acknowledges, session.configuration.acknowledgement == nil else { return session }
        let expected = SessionConfigurationDocument(acknowledgement: "expected")
        return try await service.persist("PATCH", path, body: Wire.encoded(expected))
            .decoded(as: SessionDocument.self)
    }

    private func changeOrCreate() async throws(FetchdError) -> SessionDocument {
        let body = try Wire.encoded(configuration.document)
        do throws(FetchdError) {
            return try await service.persist("PATCH", path, body: body).decoded(as: SessionDocument.self)
        } catch  where error.isMissing {
            return try await service.persist("PUT", path, body: body).decoded(as: SessionDocument.self)
        }
    }

    private func findTasks(_ folder: StateFolder) async throws(FetchdError) {
        for state in JobDocument.State.outstanding {
            var cursor: String?
            repeat {
                var query = ["session": identifier, "state": state.rawValue, "limit": "1000"]
                query["cursor"] = cursor
                let page = try await service.persist("GET", "/v1/jobs", query: query).decoded(as: JobPage.self)
                for job in page.jobs { register(job) }
                cursor = page.nextCursor
            } while cursor != nil
        }
        // This process may have resumed tasks in the meantime.
        for pending in folder.pendingTasks() where !registry.contains(pending.identifier) { restore(pending) }
    }

    private func restore(_ pending: PendingTask) {
        let task = registry.task(pending.identifier, ofJob: "") {
            BackgroundDownloadTask(
                pending.identifier, of: self, url: pending.request.url,
                content: .init(
                    state: .running, taskDescription: pending.request.metadata?[JobDocument.descriptionName],
                    request: .success(pending.request), resumeFrom: pending.resumeFrom, isHandedOver: true))
        }
        commands.yield(.submit(task, pending, isRestored: true))
    }

    @discardableResult
    func register(_ job: JobDocument) -> BackgroundDownloadTask {
        let task = registry.task(job.taskIdentifier, ofJob: job.id) {
            BackgroundDownloadTask(
                job.taskIdentifier, of: self, url: job.url,
                content: .init(state: job.state == .paused ? .suspended : .running))
        }
        task.follow(job)
        return task
    }

    private func follow() async throws(FetchdError) {
        var feed = Feed(of: identifier, at: service, after: record.current.event)
        while true {
            switch try await feed.next() {
            case .event(let event):
                try await deliver(event)
                position.withLock { $0 = event.id }
            case .progress(let progress): await deliver(progress)
            case .reset(let first):
                await inTurn { await $0.session(self, didLoseEventsBefore: first) }
                try await completeEndedTasks()
            }
        }
    }

    // MARK: The record

    /// Changes the record, and returns when it is stored. It waits while the disk is full: the next call must not be made
    /// before this one is recorded.
    func store(_ change: (inout SessionRecord) -> Void) async throws(FetchdError) {
        record.withLock { change(&$0) }
        var backoff = Backoff()
        while !updateRecord({ _ in }) { try await backoff.pause() }
    }

    /// Changes the record for a completion handler, which cannot wait.
    @discardableResult
    func updateRecord(_ change: (inout SessionRecord) -> Void) -> Bool {
        record.withLock { record in
            change(&record)
            return (try? folder?.write(record)) != nil
        }
    }

    /// Makes one delegate call at a time.
    func inTurn(_ call: (any BackgroundSessionDelegate) async -> Void) async {
        guard let delegate else { return }
        await turn.take()
        await call(delegate)
        await turn.pass()
    }
}

final class TaskRegistry: Sendable {
    private struct Content {
        var tasks: [String: BackgroundDownloadTask] = [:]
        var identifiersByJob: [String: String] = [:]
    }

    private let content = Guarded(Content())

    var all: [BackgroundDownloadTask] { Array(content.current.tasks.values) }

    func task(ofJob job: String) -> BackgroundDownloadTask? {
        content.withLock { content in content.identifiersByJob[job].flatMap { content.tasks[$0] } }
    }

    func contains(_ identifier: String) -> Bool { content.current.tasks[identifier] != nil }

    func insert(_ task: BackgroundDownloadTask) { content.withLock { $0.tasks[task.taskIdentifier] = task } }

    /// Returns the task with this identifier, or a new one.
    func task(
        _ identifier: String, ofJob job: String, otherwise make: () -> BackgroundDownloadTask
    ) -> BackgroundDownloadTask {
        content.withLock { content in
            let task = content.tasks[identifier] ?? make()
            content.tasks[identifier] = task
            content.identifiersByJob[job] = identifier
            return task
        }
    }

    func remove(_ task: BackgroundDownloadTask) {
        content.withLock { content in
            content.tasks[task.taskIdentifier] = nil
            if let job = task.jobIdentifier { content.identifiersByJob[job] = nil }
        }
    }

    func removeAll() { content.withLock { $0 = Content() } }
}
