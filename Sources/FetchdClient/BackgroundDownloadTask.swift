import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One download of a session with a delegate. It exists at the service, and survives this process: a later process finds it
/// with ``BackgroundSession/allTasks``.
public final class BackgroundDownloadTask: Sendable {
    public enum State: Sendable { case running, suspended, canceling, completed }

    struct Content: Sendable {
        var state: State
        var progress = DownloadProgress.none
        var taskDescription: String?
        var job: String?
        var error: DownloadError?
        /// What to submit at the first `resume()`. Nil for tasks of an earlier process.
        var request: Result<DownloadRequest, FetchdError>?
        var resumeFrom: String?
        var isHandedOver = false
        var response: DownloadResponse?
        var priority: DownloadRequest.Priority?
    }

    /// It is the same in every process that opens the session.
    public let taskIdentifier: String
    /// The address that was asked for. For tasks of an earlier process, the current one.
    public let originalURL: URL?
    let session: BackgroundSession
    let content: Guarded<Content>
    private let observed = Guarded<Progress?>(nil)

    init(_ identifier: String, of session: BackgroundSession, url: String, content: Content) {
        taskIdentifier = identifier
        self.session = session
        originalURL = URL(string: url)
        self.content = Guarded(content)
    }

    public var state: State { content.current.state }
    /// The latest numbers that this process has received.
    public var progress: DownloadProgress { content.current.progress }
    public var countOfBytesReceived: Int64 { progress.bytesReceived }
    /// -1 if the server has not sent the size.
    public var countOfBytesExpectedToReceive: Int64 { progress.bytesExpected ?? -1 }
    /// What the server has answered; nil until the task has succeeded.
    public var response: DownloadResponse? { content.current.response }

    /// The request that the task was created with. For a task of an earlier process, only its address is known.
    public var originalRequest: URLRequest? {
        guard let request = try? content.current.request?.get() else { return originalURL.map { URLRequest(url: $0) } }
        return request.urlRequest
    }

    /// From 0 to 1, as that of `URLSessionTask`: below 0.5 is low, above it high. A change applies to a task that waits for
    /// its turn, also after `resume()`.
    public var priority: Float {
        get {
            let content = content.current
            switch content.priority ?? (try? content.request?.get().priority) ?? .normal {
            case .low: return 0.25
            case .normal: return 0.5
            case .high: return 0.75
            }
        }
        set {
            let value: DownloadRequest.Priority = newValue < 0.5 ? .low : newValue > 0.5 ? .high : .normal
            let isHandedOver = content.withLock { content in
                content.priority = value
                if !content.isHandedOver, var request = try? content.request?.get() {
                    request.priority = value
                    content.request = .success(request)
                }
                return content.isHandedOver
            }
            if isHandedOver { session.commands.yield(.change(JobHelp(priority: value), of: self)) }
        }
    }

    /// The same numbers for an interface that observes `Progress`. Its `cancel()`, `pause()` and `resume()` act on the task.
    public var observableProgress: Progress {
        observed.withLock { observed in
            if let known = observed { return known }
            let made = Progress(totalUnitCount: countOfBytesExpectedToReceive)
            made.completedUnitCount = countOfBytesReceived
            (made.isCancellable, made.isPausable, made.kind) = (true, true, .file)
            made.cancellationHandler = { [weak self] in self?.cancel() }
            made.pausingHandler = { [weak self] in self?.suspend() }
            made.resumingHandler = { [weak self] in self?.resume() }
            observed = made
            return made
        }
    }

    /// Why the task ended without a file; nil while it has not ended.
    public var error: DownloadError? { content.current.error }
    /// The job of the service; nil until the service has accepted the task.
    public var jobIdentifier: String? { content.current.job }

    /// A text of the caller, such as an identifier of its own. Later processes find it again. Set it before `resume()`.
    public var taskDescription: String? {
        get { content.current.taskDescription }
        set { content.withLock { if !$0.isHandedOver { $0.taskDescription = newValue } } }
    }

    /// The download does not begin before this time. Set it before `resume()`.
    public var earliestBeginDate: Date? {
        get { try? content.current.request?.get().notBefore }
        set {
            content.withLock { content in
                guard !content.isHandedOver, var request = try? content.request?.get() else { return }
                request.notBefore = newValue
                content.request = .success(request)
            }
        }
    }
}

// MARK: - Actions

extension BackgroundDownloadTask {
    /// Starts the task, or continues it after `suspend()`.
    ///
    /// The first call writes the task to a small file and syncs it. From then on the task survives a crash of this process,
    /// also if the service is not running.
    public func resume() {
        let wasHandedOver: Bool? = content.withLock { content in
            guard content.state == .suspended else { return nil }
            content.state = .running
            defer { content.isHandedOver = true }
            return content.isHandedOver
        }
        guard let wasHandedOver else { return }
        if wasHandedOver { session.commands.yield(.resume(self)) } else { session.handOver(self) }
    }

    /// Stops the task and keeps its bytes. A suspended task is outstanding: its batch does not finish.
    public func suspend() {
        if change(from: [.running], to: .suspended) { session.commands.yield(.suspend(self)) }
    }

    /// Ends the task and discards its bytes.
    public func cancel() {
        guard change(from: [.running, .suspended], to: .canceling) else { return }
        session.commands.yield(.cancel(self, producesResumeData: false) { _ in })
    }

    /// Ends the task and keeps its bytes at the service.
    ///
    /// `completionHandler` gets the resume data when the task has ended; nil if there are no bytes. It is called before
    /// `didCompleteWithError`, or at the same time.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        guard change(from: [.running, .suspended], to: .canceling) else { return completionHandler(nil) }
        session.commands.yield(.cancel(self, producesResumeData: true, completionHandler))
    }

    private func change(from states: Set<State>, to state: State) -> Bool {
        content.withLock { content in
            guard states.contains(content.state) else { return false }
            content.state = state
            return true
        }
    }
}

extension BackgroundDownloadTask: Hashable {
    public static func == (one: BackgroundDownloadTask, other: BackgroundDownloadTask) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension BackgroundDownloadTask {
    func follow(_ job: JobDocument) {
        content.withLock { content in
            content.job = job.id
            content.progress = job.progress
            content.taskDescription = content.taskDescription ?? job.metadata.taskDescription
            content.isHandedOver = true
            content.response = job.response
            content.priority = job.priority ?? content.priority
        }
        observe(job.progress)
    }

    private func observe(_ progress: DownloadProgress) {
        observed.withLock { observed in
            observed?.totalUnitCount = progress.bytesExpected ?? -1
            observed?.completedUnitCount = progress.bytesReceived
        }
    }

    /// Returns how many bytes have arrived since the last call, or nil after the task's end.
    func follow(_ progress: DownloadProgress) -> Int64? {
        observe(progress)
        return content.withLock { content in
            guard content.state != .completed else { return nil }
            let before = content.progress.bytesReceived
            content.progress = progress
            return max(0, progress.bytesReceived - before)
        }
    }

    func follow(_ kind: SessionEvent.Kind) {
        content.withLock { content in
            switch kind {
            case .jobPaused: if content.state == .running { content.state = .suspended }
            case .jobStarted: if content.state == .suspended { content.state = .running }
            case .jobSucceeded: content.state = .completed
            case .jobEnded(let error):
                content.state = .completed
                content.error = error
            case .jobCreated, .jobResumed, .jobRestarted, .jobWaiting, .jobDeleted, .sessionFinished, .other: break
            }
        }
    }

    func complete(_ error: DownloadError?) {
        content.withLock {
            $0.state = .completed
            $0.error = error
        }
    }

    func resumeData(of job: JobDocument) -> Data? {
        guard job.progress.bytesDurable > 0 else { return nil }
        let request = try? content.current.request?.get()
        return ResumeData(job: job.id, request: request, url: job.url).encoded
    }
}
