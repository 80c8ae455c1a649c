import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// `GET /v1/jobs/{id}`: returns the job at once, or when it differs from the version that the client knows.
extension JobRoutes {
    /// Answers a poll from the cache, without a task. nil when the job is not cached or the client may want to wait.
    func showImmediately(_ context: RequestContext) -> Answer? {
        let head = context.head
        guard !head.headers.contains(.prefer), head.query == nil, let cached = store.cachedJob(context.job) else {
            return nil
        }
        guard cached.job.state.name != .running else {
            return .now(answer(JobView(cached.job, engine), to: context.knownVersions))
        }
        return renderings.rendering(of: cached) { JobRendering(JobView(cached.job, engine)) }
            .map { .prepared($0.response(knowing: head.headers[.ifNoneMatch])) }
    }

    func show(_ context: RequestContext) async throws -> Response {
        guard let seconds = context.preferredWait, seconds > 0 else {
            return answer(JobView(try await store.job(context.job), engine), to: context.knownVersions)
        }
        var response = try await answerOnceChanged(context, within: .seconds(seconds))
        response.headers[.preferenceApplied] = "wait=\(seconds)"
        return response
    }

    private func answer(_ view: JobView, to versions: KnownVersions?) -> Response {
        versions?.include(view.tag) == true ? view.notModified : view.response
    }

    /// A request with a version is answered as soon as the job has another version, in any state. A request without a
    /// version is answered at the next change; it is answered at once for a job that has ended, because the client may
    /// have missed its last change.
    private func answerOnceChanged(_ context: RequestContext, within duration: Duration) async throws -> Response {
        let deadline = ContinuousClock.now + duration
        // The watcher is registered before the first read, so that no change is missed in between.
        let watcher = feed.watcher(of: [.job(context.job)])
        defer { feed.dismiss(watcher) }
        let first = JobView(try await store.job(context.job), engine)
        let versions = context.knownVersions
        // `*` matches every version, so no change can end this wait.
        if case .any? = versions { return first.notModified }
        if versions == nil, first.job.state.isTerminal { return first.response }
        let known = versions ?? .tags([first.tag])
        var view = first
        while known.include(view.tag), await feed.sleep(watcher, until: deadline) == .rung {
            view = JobView(try await store.job(context.job), engine)
        }
        return versions == nil ? view.response : answer(view, to: versions)
    }
}
