import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A named group of downloads that a fetchd service carries out, in the shape of a background `URLSession`.
///
/// With a delegate, the session delivers the calls that the process has missed, in order, and then follows the service until
/// it is invalidated. It keeps itself and the delegate in memory until then. Without a delegate, use the asynchronous
/// sequences ``download(from:key:)``, ``events(after:)`` and ``finished``, which need no files.
public final class BackgroundSession: Sendable {
    /// The name of the session at the service: 1 to 128 letters, digits, dots, underscores and hyphens.
    public let identifier: String
    public let configuration: BackgroundSessionConfiguration
    public let delegate: (any BackgroundSessionDelegate)?

    let service: Service
    let commands: AsyncStream<SessionCommand>.Continuation
    let queuedCommands: AsyncStream<SessionCommand>
    let registry = TaskRegistry()
    let turn = Turn()
    /// Opened when the tasks of earlier processes are known.
    let isAttached = Latch()
    let isClosed = Guarded(false)
    let failure = Guarded<FetchdError?>(nil)
    let folder: StateFolder?
    let record: Guarded<SessionRecord>
    /// The last event that was read. Unlike the record, it counts events without a call.
    let position = Guarded<Int64>(0)
    /// The acknowledgement that the service has confirmed.
    let confirmed = Guarded<Int64>(0)
    private let loop = Guarded<Task<Void, Never>?>(nil)

    /// - Throws: `invalid` if the identifier is not a name; with a delegate, `identifierInUse` if another process has opened
    ///   the session, and `storage`.
    public init(
        identifier: String, configuration: BackgroundSessionConfiguration,
        delegate: (any BackgroundSessionDelegate)? = nil
    ) throws(FetchdError) {
        guard Self.isName(identifier) else { throw .invalid("\(identifier) is not a name of a session.") }
        self.identifier = identifier
        self.configuration = configuration
        self.delegate = delegate
        service = Service(at: configuration.service, token: configuration.token)
        (queuedCommands, commands) = AsyncStream.makeStream(of: SessionCommand.self)
        folder = delegate == nil ? nil : try StateFolder(for: identifier, in: configuration.stateFolder)
        record = Guarded(SessionRecord(after: 0))
        if let folder { loop.withLock { $0 = Task { await self.run(folder) } } }
    }

    private static func isName(_ text: String) -> Bool {
        text != "." && text != ".." && (1...128).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    var path: String { "/v1/sessions/\(identifier)" }

    /// Stops following the service. The downloads continue without this process. If a completion handler was called and the
    /// service does not know it yet, it gets one request; if that fails, the next process repeats it. Do not wait for
    /// it in a method of the delegate.
    public func detach() async {
        let loop = loop.exchange(nil)
        loop?.cancel()
        commands.finish()
        await loop?.value
        if record.current.acknowledged > confirmed.current { try? await acknowledgeAnswered(atMostOnce: true) }
        registry.removeAll()
        folder?.unlock()
    }
}

// MARK: - Tasks

extension BackgroundSession {
    /// Makes a suspended task; `resume()` starts it.
    public func downloadTask(with url: URL) -> BackgroundDownloadTask { downloadTask(with: DownloadRequest(url: url)) }

    /// Makes a suspended task from URL, method, headers and body of a request. The body must be text.
    public func downloadTask(with request: URLRequest) -> BackgroundDownloadTask {
        makeTask(Result { () throws(FetchdError) in try DownloadRequest(request) }, url: request.url?.absoluteString)
    }

    /// Makes a suspended task that can use everything that a job of the service can.
    public func downloadTask(with request: DownloadRequest) -> BackgroundDownloadTask {
        makeTask(.success(request), url: request.url)
    }

    /// Makes a suspended task that continues with the bytes of a cancelled or failed one.
    ///
    /// It has the request of that task. If the task was started by an earlier process, headers, body, credentials and
    /// destination are not known any more: make a task with a ``DownloadRequest`` then, and pass the resume data there.
    /// `request` replaces the request of the earlier task, for example with another URL for the same file.
    public func downloadTask(withResumeData data: Data, request: DownloadRequest? = nil) -> BackgroundDownloadTask {
        let content = Result { () throws(FetchdError) in try ResumeData(data) }
        let repeated = content.flatMap { content in
            request.map { .success($0) } ?? Result { () throws(FetchdError) in try content.repeatedRequest() }
        }
        let job = try? content.get().job
        return makeTask(repeated, url: try? repeated.get().url, resumeFrom: job)
    }

    /// The tasks that have not ended, also those of earlier processes and other clients, in no order.
    public var allTasks: [BackgroundDownloadTask] {
        get async {
            await isAttached.wait()
            return registry.all
        }
    }

    private func makeTask(
        _ request: Result<DownloadRequest, FetchdError>, url: String?, resumeFrom: String? = nil
    ) -> BackgroundDownloadTask {
        let task = BackgroundDownloadTask(
            UUID().uuidString, of: self, url: url ?? "",
            content: .init(
                state: .suspended, taskDescription: try? request.get().metadata?[JobDocument.descriptionName],
                request: request, resumeFrom: resumeFrom))
        registry.insert(task)
        return task
    }
}

/// The asynchronous interface. It keeps no files and needs no delegate: the positions are the caller's or the service's.
extension BackgroundSession {
    /// Starts a download. When it returns, the download survives a crash of this process and of the service.
    ///
    /// `key` identifies the download within the session for a day: a process that calls again with the same key and URL, for
    /// example after a crash, gets the same download. Nil makes a new one each time.
    public func download(from url: URL, key: String? = nil) async throws(FetchdError) -> Download {
        try await download(DownloadRequest(url: url), key: key)
    }

    /// Starts a download that can use everything that a job of the service can.
    public func download(_ request: DownloadRequest, key: String? = nil) async throws(FetchdError) -> Download {
        _ = try await declare()
        let key = key.map(keyAtService) ?? UUID().uuidString
        let submission = JobSubmission(
            request: request, session: identifier, tag: JobDocument.tagPrefix + key, resumeFrom: nil)
        let job = try await service.persist(
            "POST", "/v1/jobs", body: Wire.encoded(submission), headers: ["Idempotency-Key": key]
        ).decoded(as: JobDocument.self)
        return Download(id: job.id, service: service)
    }

    /// The service limits the length of keys, and knows no sessions there.
    private func keyAtService(_ key: String) -> String {
        PortableSHA256.digest(of: Array("\(identifier)\n\(key)".utf8)).map { String(format: "%02x", $0) }.joined()
    }

    /// A download of an earlier process, or of another client.
    public func download(withJob id: String) -> Download { Download(id: id, service: service) }

    /// The events of the session after a position, without an end.
    /// - Parameter position: the `id` of the last event that the caller has processed; 0 for all that exist.
    public func events(after position: Int64) -> SessionEvents {
        SessionEvents(service: service, session: identifier, position: position)
    }

    /// The finishes that are not acknowledged, and all that follow, without an end. Call ``acknowledge(_:)`` when you have
    /// processed one: no process gets it again.
    public var finished: FinishedBatches {
        get async throws(FetchdError) {
            let session = try await declare(acknowledges: true)
            return FinishedBatches(
                events: SessionEvents(
                    service: service, session: identifier, position: session.acknowledgedThrough,
                    type: "session.finished"))
        }
    }

    /// Tells the service that this finish, and all events before it, are processed.
    public func acknowledge(_ batch: FinishedBatch) async throws(FetchdError) {
        _ = try await service.persist("POST", path + "/acknowledge", body: Wire.encoded(["through": batch.event]))
    }
}

extension BackgroundSession {
    /// Takes no more tasks, waits until all tasks have ended and all calls have been made, and deletes the session. The files
    /// stay. Do not wait for it in a method of the delegate.
    /// - Throws: what the service refused. The session is detached then, and exists.
    public func finishTasksAndInvalidate() async throws(FetchdError) {
        isClosed.withLock { $0 = true }
        try await deleteWhenIdle()
    }

    /// Cancels all tasks, waits until all calls have been made, and deletes the session. Do not wait for it in a method of the
    /// delegate.
    /// - Throws: what the service refused. The session is detached then, and exists.
    public func invalidateAndCancel() async throws(FetchdError) {
        isClosed.withLock { $0 = true }
        while try !hasSubmittedAll() { try await Self.pause() }
        _ = try await service.persist("POST", path + "/cancel")
        try await deleteWhenIdle()
    }

    /// - Throws: why the session has ended. Its tasks are not submitted any more then.
    private func hasSubmittedAll() throws(FetchdError) -> Bool {
        if let failure = failure.current { throw failure }
        return folder?.pendingTasks().isEmpty ?? true
    }

    private func deleteWhenIdle() async throws(FetchdError) {
        let failure = await Self.failure { () throws(FetchdError) in
            while try await !self.isSettled() { try await Self.pause() }
            if self.record.current.acknowledged > self.confirmed.current { try await self.acknowledgeAnswered() }
            _ = try await self.service.persist("DELETE", self.path)
        }
        await detach()
        if let failure { throw failure }
        await delegate?.session(self, didBecomeInvalidWithError: nil)
    }

    static func failure(of work: () async throws(FetchdError) -> Void) async -> FetchdError? {
        do throws(FetchdError) {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    /// Whether nothing is outstanding at the service, and nothing is left to deliver.
    private func isSettled() async throws(FetchdError) -> Bool {
        guard try hasSubmittedAll() else { return false }
        let session = try await service.persist("GET", path).decoded(as: SessionDocument.self)
        guard session.state == "idle", session.finishDueAt == nil else { return false }
        return delegate == nil || position.current >= session.lastEvent
    }

    private static func pause() async throws(FetchdError) { try await FetchdError.sleep(for: .milliseconds(200)) }
}
